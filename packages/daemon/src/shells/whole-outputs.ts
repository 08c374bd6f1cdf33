import type { ArtifactId, CommandId, CommandResult, ShellId } from "@corral/protocol";
import { type Artifacts, MaskedOutput } from "../artifacts/index.ts";
import { type CommandResults, followWhole, mostInResult, type OutputPlace } from "../environments/index.ts";
import type { Secrets } from "../secrets/index.ts";

export interface OutputsOf {
  readonly artifacts: Pick<Artifacts, "begin">;
  readonly secrets: Secrets;
  readonly shell: ShellId;
  readonly onDefect: (what: string, error: unknown) => void;
  /** Aborted when the daemon stops: what runs goes on, and another one takes it up. */
  readonly over: AbortSignal;
}

type Results = Pick<CommandResults, "readWhole">;

/** How often outputs are looked at; nobody else may be reading them. */
const everyMs = 1000;

/** The whole of a command's outputs, while it runs, as artifacts of its shell where they are long. Ask once for the rest. */
export function followOutputs(of: OutputsOf, results: Results, id: CommandId) {
  const whole = wholeOf(of, results, id);
  const looking = setInterval(() => {
    if (of.over.aborted) return clearInterval(looking);
    whole.more("stdout");
    whole.more("stderr");
  }, everyMs).unref();
  return {
    leave: () => clearInterval(looking),
    async rest(result: CommandResult): Promise<CommandResult> {
      clearInterval(looking);
      return { ...result, ...(await whole.rest(result)) };
    },
  };
}

/** The same for one that is over. */
export async function wholeOutputs(
  of: OutputsOf,
  results: Results,
  id: CommandId,
  result: CommandResult,
): Promise<CommandResult> {
  return { ...result, ...(await wholeOf(of, results, id).rest(result)) };
}

function wholeOf(of: OutputsOf, results: Results, id: CommandId) {
  const place = (stream: "stdout" | "stderr") => placeFor(of, id, stream);
  return followWhole({ results, id, place, above: mostInResult, everyMs: 0 });
}

/** The same output is the same artifact, after a crash too. */
function placeFor(of: OutputsOf, command: CommandId, stream: "stdout" | "stderr"): OutputPlace {
  const { artifacts, secrets, shell, over, onDefect } = of;
  const id: ArtifactId = `art_${command.slice("cmd_".length)}${stream === "stdout" ? "o" : "e"}`;
  const wanted = { owner: shell, id, name: `${command}.${stream}.txt`, kind: stream };
  let output: MaskedOutput | undefined;
  const begun = async () => {
    over.throwIfAborted();
    return (output ??= new MaskedOutput(await artifacts.begin(wanted), secrets, { isText: true }));
  };
  return {
    begin: async () => (await begun()).beginning,
    async append(bytes) {
      const artifact = await begun();
      await artifact.append(bytes);
      return artifact.now;
    },
    /** All of it is in its file. That the disk has it as well is not waited for: another program may keep the disk busy. */
    async finish() {
      const artifact = await begun();
      await artifact.end();
      artifact.finish().catch((error: unknown) => onDefect(`${id} is kept at the next start`, error));
      return artifact.now;
    },
  };
}
