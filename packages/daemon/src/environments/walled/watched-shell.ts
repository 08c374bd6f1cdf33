import type { CommandResult, HeldBackNote } from "@corral/protocol";
import type { Command, CommandResults, OutputRange, OutputRead, Shell } from "../port.ts";
import type { HoldBack } from "./held-back/hold-back.ts";

/** A shell after whose commands is looked for what they planted. */
export class WatchedShell implements Shell {
  readonly #shell: Shell;
  readonly #holdBack: HoldBack;
  readonly #ready: Promise<void>;

  constructor(shell: Shell, holdBack: HoldBack, ready: Promise<void>) {
    this.#shell = shell;
    this.#holdBack = holdBack;
    this.#ready = ready;
  }

  async run(command: Command): Promise<CommandResult> {
    await this.#ready;
    const noted = this.#holdBack.noted;
    this.#holdBack.begin();
    const looked = () => this.#holdBack.finish().then(() => [], notLooked);
    const result = await this.#shell.run(command).catch(async (error: unknown) => {
      await looked();
      throw error;
    });
    const failed = await looked();
    const heldBack = [...this.#holdBack.since(noted), ...failed];
    return heldBack.length === 0 ? result : { ...result, heldBack };
  }

  find(id: string): ReturnType<CommandResults["find"]> {
    return this.#shell.find(id);
  }

  readWhole(id: string, stream: "stdout" | "stderr", range?: OutputRange): Promise<OutputRead> {
    return this.#shell.readWhole(id, stream, range);
  }

  forget(id: string): void {
    this.#shell.forget(id);
  }

  takePlace(): void {
    this.#shell.takePlace();
  }
}

/** Nobody may take silence for a folder in which nothing was planted. */
function notLooked(error: unknown): HeldBackNote[] {
  return [
    { path: `what could not be looked at (${error instanceof Error ? error.message : String(error)})`, state: "there" },
  ];
}
