import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { CorralError } from "@corral/protocol";
import { lockHome, openHome } from "./home/index.ts";
import { verifyChain } from "./log/index.ts";
import { exportSalvaged, integrityOf, openChainFile, restore } from "./log/sqlite/index.ts";

/**
 * What is done to files of the log without a daemon, for the command line: `check FILE`, `salvage FILE`, `restore FILE`, and
 * `verify [FILE]`, which prints how far it is.
 * What was found is the last line of stderr, as JSON, a problem included; stdout is for events.
 */
const { values, positionals } = parseArgs({
  options: {
    home: { type: "string" },
    after: { type: "string" },
    stream: { type: "string" },
    head: { type: "string" },
  },
  allowPositionals: true,
});
const stdout = 1;
/** Places between two words on how far it is. */
const progressStep = 10_000;
const [task = "", file = ""] = positionals;

try {
  tell(await perform());
} catch (error) {
  const problem = error instanceof CorralError ? error : new CorralError("internal", String(error), { cause: error });
  tell(problem.toProblem());
  process.exitCode = 1;
}

function perform(): Promise<object> {
  switch (task) {
    case "check":
      return integrityOf(file).then((faults) => ({ faults }));
    case "salvage":
      return exportSalvaged(file, { after: Number(values.after ?? 0), stream: values.stream }, print);
    case "restore":
      return restoreInto(values.home ?? "");
    case "verify":
      return verify(file === "" ? openHome(values.home ?? "").database : file);
    default:
      throw new Error(`there is no task ${task}`);
  }
}

/** Under the home's lock: no daemon has the database open meanwhile. */
async function restoreInto(folder: string): Promise<object> {
  const home = openHome(folder);
  const lock = lockHome(home);
  try {
    return await restore(file, home.database);
  } finally {
    lock.release();
  }
}

/** Beside a daemon that has it open, too. */
async function verify(database: string): Promise<object> {
  const chain = openChainFile(database);
  try {
    let told = 0;
    const onProgress = (seq: number) => {
      if (seq - told < progressStep) return;
      told = seq;
      print(`${seq} ${chain.end}\n`);
    };
    return await verifyChain(chain, { head: values.head, onProgress });
  } finally {
    chain.close();
  }
}

/** The descriptor itself waits for a slow reader, so that nothing heaps up here. */
function print(text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length;) written += writeSync(stdout, bytes, written);
}

function tell(found: object): void {
  process.stderr.write(`${JSON.stringify(found)}\n`);
}
