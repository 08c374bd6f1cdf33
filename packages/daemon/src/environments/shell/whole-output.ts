import type { ArtifactNamed, CommandResult } from "@corral/protocol";
import type { CommandResults, OutputRead } from "../port.ts";

/** Where the whole of an output goes. Each step tells what has become of it. */
export interface OutputPlace {
  /** May be repeated, also by another process: it goes on behind what is there. */
  begin(): Promise<ArtifactNamed>;
  append(bytes: Uint8Array): Promise<ArtifactNamed>;
  finish(): Promise<ArtifactNamed>;
}

export interface WholeOutputs {
  /** There is more of it. */
  more(stream: OutputName): void;
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
    new WholeOutput((from, bytes) => results.readWhole(id, stream, { from, bytes }), place(stream), { above, everyMs });
  const outputs = { stdout: follow("stdout"), stderr: follow("stderr") };
  return {
    more: (stream) => outputs[stream].more(),
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
 * Moves one output to its place.
 *
 * 1. One piece at a time: the next is read after the one before has arrived, so memory is bounded.
 * 2. After a failure nothing more is tried.
 * 3. Output is moved up to where it was at the last look, and in the end up to where it was when the command ended. A background process that
 *    writes for ever holds nobody up.
 */
class WholeOutput {
  readonly #read: Read;
  readonly #place: OutputPlace;
  readonly #above: number;
  readonly #everyMs: number;
  #position: number | undefined;
  #moving: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(
    read: Read,
    place: OutputPlace,
    { above, everyMs }: { readonly above: number; readonly everyMs: number },
  ) {
    this.#read = read;
    this.#place = place;
    this.#above = above;
    this.#everyMs = everyMs;
  }

  more(): void {
    if (!this.#isOver) this.#timer ??= setTimeout(() => this.#look(), this.#everyMs).unref();
  }

  async rest(size: number): Promise<ArtifactNamed | undefined> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    try {
      await this.#moving;
      if (this.#position === undefined && size <= this.#above) return undefined;
      await this.#move(size);
      return await this.#place.finish();
    } catch {
      return undefined;
    }
  }

  #look(): void {
    this.#moving = this.#moveIfLong();
    this.#moving.then(
      () => (this.#timer = undefined),
      () => (this.#isOver = true),
    );
  }

  async #moveIfLong(): Promise<void> {
    const { size } = await this.#read(0, 0);
    if (size > this.#above) await this.#move(size);
  }

  async #move(upTo: number): Promise<void> {
    this.#position ??= seenOf(await this.#place.begin());
    while (this.#position < upTo) {
      const { bytes } = await this.#read(this.#position, Math.min(pieceBytes, upTo - this.#position));
      if (bytes.length === 0) return;
      await this.#place.append(bytes);
      this.#position += bytes.length;
    }
  }
}

type Read = (from: number, bytes: number) => Promise<OutputRead>;

/** How far into the output that is. */
function seenOf({ bytes, leftOut }: ArtifactNamed): number {
  return bytes + (leftOut?.bytes ?? 0);
}
