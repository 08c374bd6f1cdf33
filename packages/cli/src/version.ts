import manifest from "../package.json" with { type: "json" };

/** Set when the program is bundled. */
declare const CORRAL_VERSION: string | undefined;

export const version: string = typeof CORRAL_VERSION === "undefined" ? manifest.version : CORRAL_VERSION;
