import type { Readable } from "node:stream";
import type { SpawnOptions, SpawnedProcess } from "../port.ts";
import { EscapeFilter, withoutEscapes } from "./escapes.ts";
import type { Terminal, TerminalEnd, TerminalSize, Viewer } from "./port.ts";

/** What new viewers are told of the past. */
const replayCharacters = 256 * 1024;

type Spawn = (options: SpawnOptions) => Promise<SpawnedProcess>;

/**
 * A terminal without tmux: a pty made by `script`, or by Python where that is missing, with its keys and its output over pipes. It ends with
 * this process. Nobody keeps its screen, so a new viewer is told the last of what was printed once more.
 */
export class PlainTerminal implements Terminal {
  readonly lasting = false;
  readonly ended: Promise<TerminalEnd>;
  readonly #spawn: Spawn;
  readonly #spawned: SpawnedProcess;
  /** What its pty is called there. */
  readonly #tty: Promise<string>;
  readonly #viewers = new Set<Viewer>();
  readonly #filter = new EscapeFilter();
  #past = "";
  #size: TerminalSize;

  private constructor(spawn: Spawn, spawned: SpawnedProcess, size: TerminalSize) {
    this.#spawn = spawn;
    this.#spawned = spawned;
    this.#size = size;
    this.#tty = ttyIn(spawned.stderr);
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

  static async open(spawn: Spawn, size: TerminalSize): Promise<PlainTerminal> {
    const argv = ["sh", "-c", ptyScript, "sh", String(size.columns), String(size.rows)] as const;
    const spawned = await spawn({ argv, variables: { TERM: "xterm-256color" } });
    return new PlainTerminal(spawn, spawned, size);
  }

  get size(): TerminalSize {
    return this.#size;
  }

  write(bytes: Uint8Array): void {
    this.#spawned.stdin.write(bytes);
  }

  resize(size: TerminalSize): void {
    this.#size = size;
    // It has gone, or has no room for a process: then it keeps its size.
    this.#resizeTo(size).catch(() => undefined);
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

  async #resizeTo({ columns, rows }: TerminalSize): Promise<void> {
    const argv = ["stty", "-F", await this.#tty, "cols", String(columns), "rows", String(rows)] as const;
    const { stdout, stderr } = await this.#spawn({ argv });
    stdout.resume();
    stderr.resume();
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

/** Never resolves where none is told. */
function ttyIn(told: Readable): Promise<string> {
  let text = "";
  return new Promise((resolve) => {
    told.on("data", (piece: Buffer) => {
      // What is told at once: whatever a program says there later is nobody's business.
      if (text.length < 4_096) text += piece.toString("latin1");
      const tty = /^(\/dev\/\S+)\n/m.exec(text)?.[1];
      if (tty !== undefined) resolve(tty);
    });
  });
}

/** The shell on the pty tells beside it which one it is, so that its size can be changed; on the disk there is nothing of it. */
const ptyScript = `
export CORRAL_COLUMNS="$1" CORRAL_ROWS="$2"
exec 7>&2
inner='tty >&7; exec 7>&-; stty cols "$CORRAL_COLUMNS" rows "$CORRAL_ROWS"; unset CORRAL_COLUMNS CORRAL_ROWS; exec "\${SHELL:-/bin/sh}" -i'
if command -v script >/dev/null && script -qefc true /dev/null </dev/null >/dev/null 2>&1; then
  SHELL=/bin/sh exec env CORRAL_SHELL="\${SHELL:-}" script -qefc "SHELL=\\$CORRAL_SHELL; unset CORRAL_SHELL; $inner" /dev/null
fi
python=$(command -v python3) || { echo 'There is neither tmux nor script nor python3 here, so there is no terminal.'; exit 127; }
exec "$python" -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(["sh", "-c", sys.argv[1]])) & 255)' "$inner"
`;
