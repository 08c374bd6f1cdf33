export type { Models } from "./models.ts";
