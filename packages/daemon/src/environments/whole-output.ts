import type { ArtifactNamed, CommandResult } from "@corral/protocol";
import type { CommandResults, OutputRead } from "./port.ts";

/** Where the whole of an output goes. Each step tells what has become of it. */
export interface OutputPlace {
  /** May be repeated, also by another process: it goes on behind what is there. */
  begin(): Promise<ArtifactNamed>;
  append(bytes: Uint8Array): Promise<ArtifactNamed>;
  finish(): Promise<ArtifactNamed>;
}

export interface WholeOutputs {
  /** There is more by so many characters. */
  more(stream: OutputName, characters: number): void;
  /** The command is over: what was kept. Never rejects; what cannot be kept is what a result without it tells. */
  rest(result: CommandResult): Promise<Pick<CommandResult, "artifacts">>;
}

type OutputName = "stdout" | "stderr";

export interface WholeOutputsOptions {
  readonly results: Pick<CommandResults, "readWhole">;
  readonly id: string;
  readonly place: (stream: OutputName) => OutputPlace;
  /** A shorter one is left where it is. */
  readonly above: number;
  readonly everyMs?: number;
}

/** What a result holds of an output before it is cut. */
export const mostInResult = 64 * 1024;

const pieceBytes = 192 * 1024;

/** Brings long outputs of a command to a place of their own, while they grow. */
export function followWhole({ results, id, place, above, everyMs = 200 }: WholeOutputsOptions): WholeOutputs {
  const follow = (stream: OutputName) =>
    new WholeOutput((from) => results.readWhole(id, stream, { from, bytes: pieceBytes }), place(stream), {
      above,
      everyMs,
    });
  const outputs = { stdout: follow("stdout"), stderr: follow("stderr") };
  return {
    more: (stream, characters) => outputs[stream].more(characters),
    async rest({ stdoutBytes, stderrBytes }) {
      const [stdout, stderr] = await Promise.all([outputs.stdout.rest(stdoutBytes), outputs.stderr.rest(stderrBytes)]);
      if (stdout === undefined && stderr === undefined) return {};
      return {
        artifacts: { ...(stdout === undefined ? {} : { stdout }), ...(stderr === undefined ? {} : { stderr }) },
      };
    },
  };
}

/**
 * One output on its way.
 *
 * 1. One piece at a time: the next is read when the one before has arrived, so that memory is bounded.
 * 2. Once something failed nothing more is tried.
 * 3. When the command is over, what had been written by then is all there is: what it left behind may write for ever.
 */
class WholeOutput {
  readonly #read: (from: number) => Promise<OutputRead>;
  readonly #place: OutputPlace;
  readonly #above: number;
  readonly #everyMs: number;
  #characters = 0;
  #position: number | undefined;
  #moving: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hasFailed = false;

  constructor(
    read: (from: number) => Promise<OutputRead>,
    place: OutputPlace,
    { above, everyMs }: { readonly above: number; readonly everyMs: number },
  ) {
    this.#read = read;
    this.#place = place;
    this.#above = above;
    this.#everyMs = everyMs;
  }

  more(characters: number): void {
    this.#characters += characters;
    if (this.#characters <= this.#above || this.#hasFailed) return;
    this.#timer ??= setTimeout(() => this.#soon(), this.#position === undefined ? 0 : this.#everyMs).unref();
  }

  async rest(size: number): Promise<ArtifactNamed | undefined> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#characters = Number.NEGATIVE_INFINITY;
    await this.#moving;
    if (this.#position === undefined && size <= this.#above) return undefined;
    await this.#move(size);
    return this.#hasFailed ? undefined : this.#tried(() => this.#place.finish());
  }

  #soon(): void {
    this.#moving ??= this.#move(Number.POSITIVE_INFINITY).finally(() => {
      this.#moving = undefined;
      this.#timer = undefined;
    });
  }

  async #move(upTo: number): Promise<void> {
    await this.#tried(async () => {
      let position = (this.#position ??= seenOf(await this.#place.begin()));
      while (position < upTo) {
        const { bytes } = await this.#read(position);
        if (bytes.length === 0) return;
        const piece = bytes.subarray(0, Math.min(bytes.length, upTo - position));
        await this.#place.append(piece);
        this.#position = position += piece.length;
      }
    });
  }

  async #tried<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return this.#hasFailed ? undefined : await work();
    } catch {
      this.#hasFailed = true;
      return undefined;
    }
  }
}

/** How far into the output that is. */
function seenOf({ bytes, leftOut }: ArtifactNamed): number {
  return bytes + (leftOut?.bytes ?? 0);
}
