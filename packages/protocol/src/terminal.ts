import * as z from "zod";
import { problem } from "./problem.ts";
import { environmentId, sessionId, shellId, terminalId } from "./id.ts";

export const terminalSize = z.object({ columns: z.int().min(2).max(1000), rows: z.int().min(2).max(1000) });
export type TerminalSize = z.infer<typeof terminalSize>;

export const openTerminalWish = z.object({
  columns: terminalSize.shape.columns.default(80),
  rows: terminalSize.shape.rows.default(24),
});
export type OpenTerminalWish = z.infer<typeof openTerminalWish>;

/** Facts of a terminal that are stored. */
export const openedTerminal = z.object({ id: terminalId, environment: environmentId, ...terminalSize.shape });

/** `scrollback`: the address of the file with the text that was on it, where there is one. */
export const closedTerminal = z.object({
  id: terminalId,
  reason: z.string(),
  exitCode: z.int().optional(),
  scrollback: z.string().optional(),
});
export type ClosedTerminal = z.infer<typeof closedTerminal>;

/** In whose environment it is: a person's shell's, or a session's. */
const of = z.union([shellId, sessionId]);

export const terminalView = z.discriminatedUnion("state", [
  z.object({
    id: terminalId,
    of,
    state: z.literal("open"),
    /** False: there is no tmux that would hold it, so it ends when the daemon does. */
    lasting: z.boolean(),
    viewers: z.int(),
    ...terminalSize.shape,
    /** The address of the file with the text on it, which follows what is there. */
    scrollback: z.string().optional(),
  }),
  closedTerminal.extend({ of, state: z.literal("closed") }),
]);
export type TerminalView = z.infer<typeof terminalView>;

export const terminalList = z.object({ terminals: z.array(terminalView) });
export type TerminalList = z.infer<typeof terminalList>;

/** What a viewer says in text frames. Its binary frames are keys. */
export const terminalRequest = z.discriminatedUnion("kind", [
  terminalSize.extend({ kind: z.literal("resize") }),
  z.object({ kind: z.literal("ping") }),
]);
export type TerminalRequest = z.infer<typeof terminalRequest>;

/** What the daemon says in text frames. Its binary frames are output: first the screen so far, then all that comes. */
export const terminalMessage = z
  .discriminatedUnion("kind", [
    /** Somebody gave it another size. */
    terminalSize.extend({ kind: z.literal("size") }),
    /** It is over; nothing follows. */
    z.object({ kind: z.literal("closed"), terminal: closedTerminal }),
    z.object({ kind: z.literal("heartbeat") }),
    z.object({ kind: z.literal("pong") }),
    z.object({ kind: z.literal("problem"), problem }),
  ])
  .describe(
    "Text frames of the daemon. Its binary frames are output: first the screen so far, then all that comes; what would make a viewer's terminal answer, " +
      "or reach further than its screen, is taken out. Binary frames of the client are keys, at most 4096 bytes each; its text frames are JSON: " +
      '`{"kind":"resize","columns":C,"rows":R}` gives the terminal another size, for everybody, and `{"kind":"ping"}` is answered by a pong. Closing the ' +
      "socket ends nothing but the viewing. Who does not read is dropped. Browsers are let in by their cookie, on pages of the daemon itself; others by the " +
      "Authorization header.",
  );
export type TerminalMessage = z.infer<typeof terminalMessage>;

const dimension = (shape: z.ZodInt) => z.coerce.number().pipe(shape).optional();

export const watchTerminal = z.object({
  columns: dimension(terminalSize.shape.columns).describe("of who watches; the terminal takes it on"),
  rows: dimension(terminalSize.shape.rows),
});
