import * as z from "zod";

/** A yes or no in an address. */
export const flag = z.enum(["0", "1"]);

/** Of what is asked without saying more. */
export const nothing = z.object({});
