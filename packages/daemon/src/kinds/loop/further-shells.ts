import type { Environment } from "../../environments/index.ts";
import type { Beside } from "../../tools/index.ts";
import type { Desk } from "../port.ts";
import { standingOf } from "./shell-history.ts";

/**
 * The shells beside the session's own, in which calls that only read run while that one is busy.
 *
 * 1. A command runs there only if it is known where the session's own shell stands, and that nothing else in it was changed.
 * 2. The session's own shell is asked where it stands, once after each command that may have moved it, while it has nothing else to do.
 * 3. A further shell is never moved, so that it need not be asked. All are closed when the agent has nothing more to call.
 */
export class FurtherShells {
  readonly #desk: Desk;
  readonly #opened = new Map<string, Environment>();
  #closing: Promise<void> | undefined;
  #asked:
    | { readonly by: string; readonly answer: Promise<void>; folder?: string | undefined; isOver: boolean }
    | undefined;

  private constructor(desk: Desk) {
    this.#desk = desk;
  }

  static of(desk: Desk): FurtherShells {
    const known = all.get(desk) ?? new FurtherShells(desk);
    all.set(desk, known);
    return known;
  }

  /** Whether the session's own shell must be asked before a call can run beside one in it. */
  get mustAsk(): boolean {
    const standing = standingOf(this.#desk.history.entries);
    return standing.kind === "moved" && this.#asked?.by !== standing.by;
  }

  /** Commands that are sent afterwards wait for the answer. */
  ask(): void {
    const standing = standingOf(this.#desk.history.entries);
    if (standing.kind !== "moved") return;
    const { by } = standing;
    const answer = this.#ask(by).then((folder) => {
      if (this.#asked?.by === by) this.#asked = { by, answer, folder, isOver: true };
    });
    this.#asked = { by, answer, isOver: false };
  }

  /** Where a call can run beside one in the session's own shell: later, if there is something to wait for. */
  room(isTaken: (shell: string) => boolean): Beside | { readonly after: Promise<void> } | "none" {
    const standing = standingOf(this.#desk.history.entries);
    if (standing.kind === "unknown") return "none";
    if (this.#closing !== undefined) return { after: this.#closing };
    const shell = firstFree(isTaken);
    if (standing.kind === "beginning") return { shell };
    if (this.#asked?.by !== standing.by) return "none";
    if (!this.#asked.isOver) return { after: this.#asked.answer };
    const { folder } = this.#asked;
    return folder === undefined ? "none" : { shell, folder };
  }

  /** It begins while the call's start is written down. */
  open({ shell }: Beside, environment: Environment): void {
    this.#opened.set(shell, environment);
    environment.openShell(shell);
  }

  close(): void {
    const opened = [...this.#opened].filter(([, { isOpen }]) => isOpen);
    this.#opened.clear();
    if (opened.length === 0) return;
    const closing = Promise.allSettled(opened.map(([name, environment]) => environment.closeShell(name))).then(() => {
      this.#closing = undefined;
    });
    this.#closing = closing;
  }

  /** Undefined: it could not be found out, or must not be written down. */
  async #ask(by: string): Promise<string | undefined> {
    try {
      const { shell } = await this.#desk.surroundings.environment();
      const id = `folder-${by}`;
      const { exitCode, stdout, stdoutBytes, shellRespawned } = await shell.run({ id, text: "command pwd", timeoutMs });
      shell.forget(id);
      // That is for the model to know, with the next result.
      if (shellRespawned) shell.takePlace();
      const isWhole = exitCode === 0 && Buffer.byteLength(stdout) === stdoutBytes && !stdout.includes("\uFFFD");
      if (!isWhole || !/^\/.*\n$/s.test(stdout) || this.#desk.secretsIn(stdout).length > 0) return undefined;
      return stdout.slice(0, -1);
    } catch {
      return undefined;
    }
  }
}

const all = new WeakMap<Desk, FurtherShells>();

/** As a call has: one that takes longer has its shell replaced. */
const timeoutMs = 120_000;

function firstFree(isTaken: (shell: string) => boolean): string {
  for (let n = 1; ; n++) {
    const shell = `beside-${n}`;
    if (!isTaken(shell)) return shell;
  }
}
