export { openHeldBack } from "./held-back.ts";
