import * as z from "zod";

/** A code that lets one browser in, once, while it is young. It travels in the fragment of a link, which no server sees. */
export const loginCode = z.object({ code: z.string(), expiresInSeconds: z.int().positive() });
export type LoginCode = z.infer<typeof loginCode>;

export const enterLogin = z.object({ code: z.string().min(1).max(200) });
export type EnterLogin = z.infer<typeof enterLogin>;

/** The cookie came with it, out of the page's reach. */
export const loginAnswer = z.object({ kind: z.literal("logged-in") });
export type LoginAnswer = z.infer<typeof loginAnswer>;

export const logoutAnswer = z.object({ kind: z.literal("logged-out") });
export type LogoutAnswer = z.infer<typeof logoutAnswer>;
