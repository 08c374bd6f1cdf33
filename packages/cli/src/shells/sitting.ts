import { setTimeout as pause } from "node:timers/promises";
import type { Client, ClosedTerminal, TerminalView } from "@corral/client";
import { CorralError, type SessionId, type ShellId, type ShellView, type TerminalId } from "@corral/protocol";
import { persistently } from "../daemon/resume.ts";
import { shown } from "../terminal/output.ts";
import type { Screen, World } from "../world.ts";

/** How somebody left a terminal. */
export interface Left {
  /** `lost`: the connection or this program broke off; the terminal may run on. */
  readonly kind: "ended" | "detached" | "lost";
  readonly code: number;
}

/** In whose environment somebody sits. */
export interface Seat {
  readonly id: ShellId | SessionId;
  readonly environment: ShellView["environment"];
  /** What is worked on, in words. */
  readonly files: string;
}

export function seatOf(client: Client, { of }: TerminalView): Promise<Seat> {
  return seatIn(client, of);
}

export async function seatIn(client: Client, of: ShellId | SessionId): Promise<Seat> {
  if (!of.startsWith("ses_")) return seatInShell(await client.shells.get(of as ShellId));
  const { id, environment } = await client.sessions.get(of as SessionId);
  return { id, environment, files: "of a session, on the files of its agent" };
}

export function seatInShell({ id, environment, workspace, path }: ShellView): Seat {
  return { id, environment, files: `${places[workspace]} (${path})` };
}

export function newTerminal(client: Client, { id }: Pick<Seat, "id">, { screen }: World): Promise<TerminalView> {
  return client.terminals.open(id, screen?.size() ?? {}, { key: crypto.randomUUID() });
}

/**
 * A person at a terminal of a shell: keys go there as they are, output comes here as the daemon let it through.
 *
 * 1. Whatever ends it, the person's own terminal is as it was before.
 * 2. A broken connection is taken up again, and begins with the screen; keys typed meanwhile are lost, and that is told.
 */
export async function sitAtTerminal(client: Client, seat: Seat, terminal: TerminalView, world: World): Promise<Left> {
  const { screen, err } = world;
  if (screen === undefined) throw new CorralError("request.invalid", "Input and output must be a terminal");
  err.write(shown(greeting(seat, terminal)));
  const leaving = new AbortController();
  let how: Left = { kind: "lost", code: 129 };
  let attached: ReturnType<Client["terminals"]["attach"]> | undefined;
  const giveBack = screen.takeKeys(
    (keys) => {
      const at = keys.indexOf(detachKey);
      attached?.write(at < 0 ? keys : keys.subarray(0, at));
      if (at < 0) return;
      how = { kind: "detached", code: 0 };
      leaving.abort();
    },
    () => leaving.abort(),
  );
  const forget = screen.onResize(() => attached?.resize(screen.size()));
  try {
    const closed = await stay(
      client,
      { of: seat.id, terminal: terminal.id },
      world,
      leaving.signal,
      (sitting) => (attached = sitting),
    );
    return closed === undefined ? how : { kind: "ended", code: closed.exitCode ?? 1 };
  } finally {
    forget();
    screen.write(asBefore);
    giveBack();
  }
}

/** Until it ends or is left. */
async function stay(
  client: Client,
  { of, terminal }: { of: Seat["id"]; terminal: TerminalId },
  world: World & { screen?: Screen | undefined },
  signal: AbortSignal,
  onAttached: (sitting: ReturnType<Client["terminals"]["attach"]>) => void,
): Promise<ClosedTerminal | undefined> {
  const persist = persistently(client, world);
  for (let attempt = 1; ; attempt++) {
    try {
      const sitting = client.terminals.attach(of, terminal, {
        size: world.screen?.size(),
        onOutput: (bytes) => {
          attempt = 0;
          world.screen?.write(bytes);
        },
        signal,
      });
      onAttached(sitting);
      return await sitting.over;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!(error instanceof CorralError) || (error.code !== "daemon.unreachable" && error.code !== "daemon.stopping"))
        throw error;
      persist({ error, attempt, cursor: 0 });
      await pause(Math.min(50 * 2 ** attempt, 2_000), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return undefined;
    }
  }
}

/** Said when a terminal was left that goes on. */
export function comeBack({ id }: Pick<Seat, "id">): string {
  const end = id.startsWith("ses_") ? "`exit` there" : `\`corral shell --end ${id}\``;
  return `\nleft running; \`corral attach --terminal ${id}\` comes back, ${end} ends it\n`;
}

/** Ctrl-\ */
const detachKey = 0x1c;

/**
 * Everything that a program may have switched on, switched off: screen, mouse, focus, paste, cursor, region, colours, keys, character set.
 * What resets the region would move the cursor, so that is put back.
 */
const asBefore =
  "\u001b[?1000;1002;1003;1004;1005;1006;1015;2004;2026;1049l\u001b[?7;25h\u001b[?1;5l\u001b7\u001b[r\u001b8\u001b>\u001b[4l\u001b[0m\u001b(B\u000f\u001b[0 q\r\n";

const places = {
  copy: "on a copy of the repository",
  "in-place": "in the repository itself",
  scratch: "in an empty folder",
};

function greeting({ environment, files }: Seat, terminal: TerminalView): string {
  const walls = { jail: "A jail", container: "A container", local: "UNSAFE: no walls," }[environment.kind];
  const lasts =
    terminal.state === "open" && !terminal.lasting
      ? " No tmux can hold it there, so it ends when the daemon does."
      : "";
  return `${walls} ${files}; network ${environment.network}, access ${environment.access ?? "write"}. Ctrl-\\ leaves it running, exit ends it.${lasts}\n`;
}
