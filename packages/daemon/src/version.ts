/** Set when the program is bundled. */
declare const CORRAL_BUNDLED: boolean | undefined;
declare const CORRAL_VERSION: string | undefined;

export const isBundled = typeof CORRAL_BUNDLED !== "undefined" && CORRAL_BUNDLED;
export const version = typeof CORRAL_VERSION === "undefined" ? "0.1.0" : CORRAL_VERSION;
