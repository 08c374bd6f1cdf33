export { type PlaceLimits, placeLimitsFrom } from "./limits.ts";
export { Usher } from "./usher.ts";
