import type { Program, Spawned } from "../port.ts";
import { EscapeFilter, withoutEscapes } from "./escapes.ts";
import type { Terminal, TerminalEnd, TerminalSize, Viewer } from "./port.ts";

/** What new viewers are told of the past. */
const replayCharacters = 256 * 1024;

type Spawn = (program: Program) => Promise<Spawned>;

/**
 * A terminal without tmux: a pty made by `script`, or by Python where that is missing, with its keys and its output over pipes. It ends with
 * this process. Nobody keeps its screen, so a new viewer is told the last of what was printed once more.
 */
export class PlainTerminal implements Terminal {
  readonly lasting = false;
  readonly ended: Promise<TerminalEnd>;
  readonly #spawn: Spawn;
  readonly #folder: string;
  readonly #spawned: Spawned;
  readonly #viewers = new Set<Viewer>();
  readonly #filter = new EscapeFilter();
  #past = "";
  #size: TerminalSize;

  private constructor(spawn: Spawn, folder: string, spawned: Spawned, size: TerminalSize) {
    this.#spawn = spawn;
    this.#folder = folder;
    this.#spawned = spawned;
    this.#size = size;
    spawned.stderr.resume();
    spawned.stdout.on("data", (piece: Buffer) => this.#tell(piece));
    const heard = new Promise<void>((resolve) => spawned.stdout.once("close", () => resolve()));
    this.ended = spawned.ended
      .then(async ({ exitCode }) => {
        await heard;
        return { exitCode, scrollback: textOf(this.#past) };
      })
      .finally(() => this.#viewers.clear());
    this.ended.catch(() => undefined);
  }

  static async open({ spawn, folder }: { spawn: Spawn; folder: string }, size: TerminalSize): Promise<PlainTerminal> {
    const argv = ["sh", "-c", ptyScript, "sh", folder, String(size.columns), String(size.rows)] as const;
    const spawned = await spawn({ argv, variables: { TERM: "xterm-256color" } });
    return new PlainTerminal(spawn, folder, spawned, size);
  }

  get size(): TerminalSize {
    return this.#size;
  }

  write(bytes: Uint8Array): void {
    this.#spawned.stdin.write(bytes);
  }

  resize(size: TerminalSize): void {
    this.#size = size;
    const { columns, rows } = size;
    this.#spawn({ argv: ["sh", "-c", resizeScript, "sh", this.#folder, String(columns), String(rows)] }).then(
      ({ stdout, stderr }) => {
        stdout.resume();
        stderr.resume();
      },
      // It has gone, or has no room for a process: then it keeps its size.
      () => undefined,
    );
  }

  watch(viewer: Viewer): () => void {
    if (this.#past !== "") viewer(Buffer.from(this.#past));
    this.#viewers.add(viewer);
    return () => this.#viewers.delete(viewer);
  }

  async scrollback(): Promise<string> {
    return textOf(this.#past);
  }

  async close(): Promise<void> {
    this.#spawned.kill();
    await this.ended.catch(() => undefined);
  }

  #tell(piece: Buffer): void {
    const passed = this.#filter.pass(piece);
    if (passed === "") return;
    this.#past = shortened(this.#past + passed);
    const output = Buffer.from(passed);
    for (const viewer of this.#viewers) viewer(output);
  }
}

/** Cut after a line: there no sequence is under way. */
function shortened(past: string): string {
  if (past.length <= 2 * replayCharacters) return past;
  const cut = past.indexOf("\n", past.length - replayCharacters);
  return past.slice(cut < 0 ? past.length - replayCharacters : cut + 1);
}

function textOf(passed: string): string {
  return withoutEscapes(passed.replaceAll("\r\n", "\n"));
}

/** The shell on the pty tells which one it is, so that its size can be changed. */
const ptyScript = `
umask 077
mkdir "$1" || exit 125
export CORRAL_PTY="$1" CORRAL_COLUMNS="$2" CORRAL_ROWS="$3"
inner='tty >"$CORRAL_PTY/tty"; stty cols "$CORRAL_COLUMNS" rows "$CORRAL_ROWS"; at=$CORRAL_PTY; unset CORRAL_PTY CORRAL_COLUMNS CORRAL_ROWS; "\${SHELL:-/bin/sh}" -i; code=$?; rm -rf "$at"; exit $code'
if command -v script >/dev/null && script -qefc true /dev/null </dev/null >/dev/null 2>&1; then
  SHELL=/bin/sh exec env CORRAL_SHELL="\${SHELL:-}" script -qefc "SHELL=\\$CORRAL_SHELL; unset CORRAL_SHELL; $inner" /dev/null
fi
python=$(command -v python3) || { echo 'There is neither tmux nor script nor python3 here, so there is no terminal.'; exit 127; }
exec "$python" -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(["sh", "-c", sys.argv[1]])) & 255)' "$inner"
`;

const resizeScript =
  'n=0; until [ -s "$1/tty" ]; do n=$((n + 1)); [ $n -lt 100 ] || exit 1; sleep 0.03; done; exec stty -F "$(cat "$1/tty")" cols "$2" rows "$3"';
