import { execFile } from "node:child_process";
import { CorralError, type DoctorReport, doctorReport, type Finding } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { clientOf, findDaemon } from "./daemon.ts";
import { daemonEntry } from "./start.ts";
import { bold, dim, jsonLine, type Output, shown } from "../terminal/output.ts";
import { hang, wrap } from "../terminal/wrap.ts";
import { version } from "../version.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.doctor> = async ({ json }, world) => {
  const { findings } = await examination(world);
  for (const finding of findings) world.out.write(json === true ? jsonLine(finding) : paragraph(finding, world.out));
  return findings.some(({ state }) => state === "failed") ? 1 : 0;
};

/** By the running daemon, or else by its program, which examines and ends. */
async function examination(world: World): Promise<DoctorReport> {
  const running = await findDaemon(world);
  if (running?.version !== version) return probe(world);
  return clientOf(running, world.traceId).daemon.doctor({ signal: AbortSignal.timeout(60_000) });
}

function probe({ home, variables }: World): Promise<DoctorReport> {
  const { promise, resolve, reject } = Promise.withResolvers<DoctorReport>();
  const argv = [daemonEntry(), "--home", home, "--probe"];
  execFile(process.execPath, argv, { env: variables, timeout: 60_000 }, (error, stdout) => {
    try {
      resolve(doctorReport.parse(JSON.parse(stdout)));
    } catch (cause) {
      reject(unexamined(error ?? cause));
    }
  });
  return promise;
}

function unexamined(cause: unknown): CorralError {
  return new CorralError("internal", `The machine cannot be checked: ${(cause as Error).message}`, {
    cause,
    hint: "Install Corral again; some of its files may be missing",
  });
}

const marks = { ok: "✓", warning: "!", failed: "✗" } as const;

function paragraph({ name, state, found, why, fix }: Finding, out: Output): string {
  const head = hang(`${marks[state]} ${name}: ${shown(found)}`, out.columns).replace(name, bold(name, out));
  const reason = dim(wrap(why, out.columns, "    "), out);
  // A command that is broken into lines cannot be copied into a shell; a terminal's own breaks can.
  const remedy = fix === undefined ? "" : `    → ${shown(fix)}\n`;
  return `${head}\n${reason}\n${remedy}`;
}
