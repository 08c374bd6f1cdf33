import type { ShellId } from "@corral/protocol";
import type { By } from "../../log/index.ts";
import type { Ended } from "./ends.ts";

/**
 * Snapshots of people's shells that are due and wait a moment. A shell is often closed as soon as its command has ended (`corral shell -c`):
 * then nothing competes with that, and where nothing is left to keep, none is taken at all.
 */
export class Graces {
  readonly #due = new Map<ShellId, Due>();
  readonly #onOver: (shell: ShellId, ended: readonly Ended[], by: By) => void;

  constructor(onOver: (shell: ShellId, ended: readonly Ended[], by: By) => void) {
    this.#onOver = onOver;
  }

  /** Without `ms` it waits until somebody is in a hurry. */
  hold(shell: ShellId, ended: readonly Ended[], by: By, ms: number | undefined): void {
    const before = this.#due.get(shell);
    const timer = before?.timer ?? (ms === undefined ? undefined : setTimeout(() => this.hurry(shell), ms).unref());
    this.#due.set(shell, { ended: [...(before?.ended ?? []), ...ended], by, timer });
  }

  hurry(shell: ShellId): void {
    const due = this.#due.get(shell);
    if (due === undefined) return;
    this.drop(shell);
    this.#onOver(shell, due.ended, due.by);
  }

  /** Tells what had ended. */
  drop(shell: ShellId): readonly Ended[] {
    const due = this.#due.get(shell);
    clearTimeout(due?.timer);
    this.#due.delete(shell);
    return due?.ended ?? [];
  }

  close(): void {
    for (const shell of [...this.#due.keys()]) this.drop(shell);
  }
}

interface Due {
  readonly ended: readonly Ended[];
  readonly by: By;
  readonly timer: NodeJS.Timeout | undefined;
}
