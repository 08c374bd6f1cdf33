import type { CommandResult } from "@corral/protocol";
import { setTimeout as pause } from "node:timers/promises";
import type { SpawnOptions, Shell, SpawnedProcess } from "../port.ts";
import { quoted } from "../system/quoting.ts";
import { ControlMode } from "./control.ts";
import { EscapeFilter } from "./escapes.ts";
import type { Terminal, TerminalEnd, TerminalSize, Viewer } from "./port.ts";

/** The environment as a terminal needs it. */
export interface TerminalSite {
  /** A shell of the terminal's own. */
  readonly shell: Shell;
  /** Takes the shell away. */
  readonly closeShell: () => Promise<void>;
  readonly spawn: (options: SpawnOptions) => Promise<SpawnedProcess>;
  /** Inside path of a folder that is the terminal's own; not made yet. */
  readonly folder: string;
}

/** The one command that its shell ever runs. */
const serverCommand = "server";

/** How the server ends when it never had a terminal: there is no tmux, or it may make no socket. */
const unableCode = 125;

/** A day's work may be left on a terminal, and a holiday's; nothing is left for ever. */
const longestMs = 20 * 24 * 3_600_000;

const historyLines = 10_000;
const scrollbackBytes = 4_000_000;

/**
 * A terminal held by a tmux server of its own, inside the environment, with a client in control mode as its line to here.
 *
 * 1. The server is a command of a shell of its own: so it outlives this process, is found again by its id, is spared when other shells are
 *    stopped, and its result, which is what the terminal ended with, is kept until it was read.
 * 2. The client belongs to this process. When it goes while the server is there, another one takes its place, and viewers are shown the screen anew.
 * 3. A viewer is added in the moment in which its snapshot is taken, so it sees everything once.
 * 4. What was printed last is heard before the terminal ends: tmux forgets what it has not told its clients of a pty that is closed, so the pty
 *    stays open until the client has heard a mark that is printed behind everything else.
 */
export class TmuxTerminal implements Terminal {
  readonly lasting = true;
  readonly ended: Promise<TerminalEnd>;
  readonly #site: TerminalSite;
  readonly #viewers = new Set<Viewer>();
  #size: TerminalSize;
  #client: ControlMode | undefined;
  #filter = this.#newFilter();
  #isOver = false;

  private constructor(site: TerminalSite, result: Promise<CommandResult>, size: TerminalSize) {
    this.#site = site;
    this.#size = size;
    this.ended = result.then((ended) => this.#end(ended)).finally(() => this.#leave());
    this.ended.catch(() => undefined);
  }

  /** Undefined when tmux cannot hold terminals there. */
  static async open(site: TerminalSite, size: TerminalSize): Promise<TmuxTerminal | undefined> {
    const result = site.shell.run({ id: serverCommand, text: serverScript(site.folder, size), timeoutMs: longestMs });
    const terminal = new TmuxTerminal(site, result, size);
    const begun = await terminal.#attach();
    if (begun) return terminal;
    await terminal.close();
    return undefined;
  }

  /** One that another process may have opened; undefined when there is none. */
  static async join(site: TerminalSite): Promise<TmuxTerminal | undefined> {
    const found = await site.shell.find(serverCommand);
    if (found.kind === "absent") return undefined;
    const result = site.shell.run({ id: serverCommand, text: "", timeoutMs: longestMs });
    const terminal = new TmuxTerminal(site, result, { columns: 80, rows: 24 });
    if (found.kind === "begun") await terminal.#attach();
    return terminal;
  }

  get size(): TerminalSize {
    return this.#size;
  }

  write(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; from += keysAtOnce) {
      const keys = [...bytes.subarray(from, from + keysAtOnce)].map((byte) => byte.toString(16).padStart(2, "0"));
      this.#client?.ask(`send-keys -t ${target} -H ${keys.join(" ")}`);
    }
  }

  resize({ columns, rows }: TerminalSize): void {
    this.#size = { columns, rows };
    this.#client?.ask(`refresh-client -C ${columns}x${rows}`);
  }

  watch(viewer: Viewer): () => void {
    let isWanted = true;
    this.#snapshot((screen) => {
      if (!isWanted || this.#isOver) return;
      viewer(screen);
      this.#viewers.add(viewer);
    });
    return () => {
      isWanted = false;
      this.#viewers.delete(viewer);
    };
  }

  scrollback(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const ask = `capture-pane -p -J -S - -t ${target}`;
    if (this.#client === undefined) resolve("");
    else this.#client.ask(ask, ({ lines }) => resolve(trimmed(lines.join("\n"))));
    return promise;
  }

  async close(): Promise<void> {
    const ended = this.ended.catch(() => undefined);
    // What ends by itself leaves word of how, and of what was on its screen.
    this.#client?.ask(`run-shell -b '{ ${hangUp(this.#site.folder)}; } 2>/dev/null; true'`);
    if (this.#client !== undefined) await Promise.race([ended, pause(closingMs)]);
    this.#isOver = true;
    await this.#site.closeShell();
    this.#leave();
  }

  #snapshot(onScreen: (screen: Buffer) => void): void {
    const client = this.#client;
    if (client === undefined) return;
    let lines: readonly string[] = [];
    let covered: readonly string[] = [];
    // On one line, so that nothing happens between them.
    client.ask(
      `capture-pane -p -e -S - -t ${target} ; capture-pane -p -e -a -q -t ${target} ; display-message -p -t ${target} '${stateFormat}'`,
      (answer) => (lines = answer.lines),
    );
    client.also((answer) => (covered = answer.lines));
    client.also(({ ok, lines: [state = ""] }) => ok && onScreen(screenFrom({ lines, covered }, state)));
  }

  /** False when there is nothing to attach to. */
  async #attach(): Promise<boolean> {
    const client = await this.#newClient();
    const over = this.ended.then(
      () => false,
      () => false,
    );
    if (!(await Promise.race([client.attached, over]))) {
      client.kill();
      return false;
    }
    this.#client = client;
    this.resize(this.#size);
    void client.over.then(() => this.#attachAgain(client)).catch(() => undefined);
    return true;
  }

  async #newClient(): Promise<ControlMode> {
    const spawned = await this.#site.spawn({ argv: ["sh", "-c", clientScript, "sh", this.#site.folder] });
    return new ControlMode(spawned, (bytes) => this.#tell(bytes));
  }

  async #attachAgain(before: ControlMode): Promise<void> {
    if (this.#client === before) this.#client = undefined;
    for (let attempt = 1; !this.#isOver && attempt <= 20; attempt++) {
      await Promise.race([this.ended.catch(() => undefined), pause(50 * attempt)]);
      if (this.#isOver) return;
      this.#filter = this.#newFilter();
      if (!(await this.#attach())) continue;
      for (const viewer of [...this.#viewers]) {
        this.#viewers.delete(viewer);
        this.watch(viewer);
      }
      return;
    }
  }

  #newFilter(): EscapeFilter {
    return new EscapeFilter((string) => {
      if (string === lastMark) this.#client?.ask("wait-for -S heard");
    });
  }

  #tell(bytes: Buffer): void {
    const passed = this.#filter.pass(bytes);
    if (passed === "") return;
    const output = Buffer.from(passed);
    for (const viewer of this.#viewers) viewer(output);
  }

  async #end({ exitCode, stdout }: CommandResult): Promise<TerminalEnd> {
    await this.#client?.over;
    const pieces: Buffer[] = [];
    for (let from = 0; from < scrollbackBytes;) {
      const { bytes } = await this.#site.shell
        .readWhole(serverCommand, "stdout", { from })
        .catch(() => ({ bytes: Buffer.from(from === 0 ? stdout : "") }));
      if (bytes.length === 0) break;
      pieces.push(bytes);
      from += bytes.length;
    }
    return { exitCode, scrollback: trimmed(Buffer.concat(pieces).toString("utf8")) };
  }

  #leave(): void {
    this.#isOver = true;
    this.#viewers.clear();
    this.#client?.kill();
    this.#client = undefined;
  }
}

const target = "main:";
const closingMs = 3_000;
/** Printed by the terminal itself, in a string that terminals do not know. A program that prints it only cuts its own last words short. */
const lastMark = "7700;corral-last";
/** A key is three characters of a line, and a line has its limit. */
const keysAtOnce = 512;

/**
 * The server stays in the foreground of its shell. When the program on the terminal has ended, what was on it and how it ended are on file, and it goes.
 * No configuration but this one is read.
 */
function serverScript(folder: string, { columns, rows }: TerminalSize): string {
  return `(
command -v tmux >/dev/null || exit ${unableCode}
umask 077
at=${quoted(folder)}
mkdir "$at" || exit ${unableCode}
command cat >"$at/conf" <<'end of configuration'
set -s exit-empty on
set -s set-clipboard off
set -s escape-time 0
set -g status off
set -g prefix None
set -g prefix2 None
set -g history-limit ${historyLines}
set -g default-terminal xterm-256color
set -g default-command 'exec sh ${folder}/program'
set -g allow-rename off
set -g remain-on-exit on
set -gq remain-on-exit-format ''
set-hook -g pane-died "run-shell '[ -s ${folder}/code ] || echo #{pane_dead_status} #{pane_dead_signal} >${folder}/code' ; capture-pane -J -S - ; save-buffer ${folder}/screen ; kill-server"
new-session -d -s main -x ${columns} -y ${rows}
end of configuration
command cat >"$at/program" <<'end of program'
${programScript(folder)}
end of program
env -u TMUX tmux -D -u -S "$at/socket" -f "$at/conf" </dev/null
status= signal=
[ -s "$at/code" ] && read -r status signal <"$at/code"
[ -f "$at/screen" ] && command tail -c ${scrollbackBytes} "$at/screen"
command rm -rf "$at"
case $status in
  '') exit ${unableCode} ;;
  *[!0-9]*) exit 1 ;;
esac
[ -n "$signal" ] && exit $((128 + signal))
exit "$status"
)`;
}

/**
 * What the pane runs: the shell, and then what sees to the end. It waits until the server has taken in the last output (the title tells) and who
 * listens has heard it, but not for ever; and it ends the server before it ends itself, since tmux may miss the end of a pane's program.
 */
function programScript(folder: string): string {
  const tmux = `tmux -N -S ${folder}/socket`;
  return `
unset TMUX TMUX_PANE
trap : HUP INT QUIT
sh -c 'echo $$ >${folder}/pid; exec "\${SHELL:-/bin/sh}" -i'
code=$?
trap '' HUP INT QUIT TSTP
echo $code >${folder}/code
printf '\\033]2;ended\\007\\033]${lastMark}\\007'
{
  n=0
  until [ "$(${tmux} display-message -p -t ${target} '#{pane_title}')" = ended ] || [ $n -ge 100 ]; do n=$((n + 1)); sleep 0.03; done
  if [ -n "$(${tmux} list-clients)" ]; then
    if command -v timeout; then timeout 20 ${tmux} wait-for heard; else sleep 0.3; fi
  fi
  ${tmux} capture-pane -J -S - -t ${target} \\; save-buffer ${folder}/screen \\; kill-server
} </dev/null >/dev/null 2>&1
exit $code`;
}

/** The shell may just have been started. */
function hangUp(folder: string): string {
  return `n=0; until [ -s ${folder}/pid ] || [ $n -ge 50 ]; do n=$((n + 1)); sleep 0.05; done; read -r pid <${folder}/pid; kill -s HUP $pid; kill -s CONT $pid`;
}

/** -N: a client never starts a server, which would belong to nobody. */
const clientScript = `
n=0
until tmux -N -S "$1/socket" has-session -t main 2>/dev/null; do
  n=$((n + 1))
  [ $n -le 100 ] || exit 1
  sleep 0.03
done
exec tmux -u -N -C -S "$1/socket" attach-session -t main
`;

const flags = {
  cursor: "cursor_flag",
  cursorKeys: "keypad_cursor_flag",
  keypad: "keypad_flag",
  mouse: "mouse_standard_flag",
  mouseButtons: "mouse_button_flag",
  mouseAll: "mouse_all_flag",
  mouseSgr: "mouse_sgr_flag",
  paste: "bracket_paste_flag",
} as const;
const stateFormat = [
  "cursor_x",
  "cursor_y",
  "alternate_on",
  "alternate_saved_x",
  "alternate_saved_y",
  "history_size",
  ...Object.values(flags),
]
  .map((name) => `#{${name}}`)
  .join(",");

/** `covered`: the ordinary screen, while a program has the alternate one. */
interface Captured {
  readonly lines: readonly string[];
  readonly covered: readonly string[];
}

/** What a terminal of the same size has to be told to look the same, and to take keys in the same way. */
function screenFrom({ lines, covered }: Captured, state: string): Buffer {
  const [x, y, alternate, savedX, savedY, history, ...on] = state.split(",");
  const is = (flag: keyof typeof flags) => on[Object.keys(flags).indexOf(flag)] === "1";
  const modes = [
    is("cursor") ? "" : "\u001b[?25l",
    is("cursorKeys") ? "\u001b[?1h" : "",
    is("keypad") ? "\u001b=" : "",
    is("mouse") ? "\u001b[?1000h" : "",
    is("mouseButtons") ? "\u001b[?1002h" : "",
    is("mouseAll") ? "\u001b[?1003h" : "",
    is("mouseSgr") ? "\u001b[?1006h" : "",
    is("paste") ? "\u001b[?2004h" : "",
  ];
  const past = lines.slice(0, Number(history));
  const screens =
    alternate === "1"
      ? `${drawn([...past, ...covered], savedX, savedY)}\u001b[?1049h${drawn(lines.slice(past.length), x, y)}`
      : drawn(lines, x, y);
  return Buffer.from(`\u001b[?1049l${screens}${modes.join("")}`);
}

function drawn(lines: readonly string[], x = "0", y = "0"): string {
  const text = new EscapeFilter().pass(Buffer.from(lines.join("\r\n")));
  return `\u001b[0m\u001b[2J\u001b[H${text}\u001b[0m\u001b[${Number(y) + 1};${Number(x) + 1}H`;
}

function trimmed(text: string): string {
  const kept = text.replace(/\s+$/, "");
  return kept === "" ? "" : `${kept}\n`;
}
