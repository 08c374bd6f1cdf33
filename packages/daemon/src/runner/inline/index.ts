export { openInlineHost } from "./host.ts";
