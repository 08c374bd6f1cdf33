import { newTraceId } from "@corral/protocol/trace";
import { homeFolder } from "./home.ts";
import { dispatch } from "./dispatch.ts";
import { folderHere } from "./here.ts";
import { screenOf } from "./terminal/screen.ts";
import { outputTo } from "./terminal/output.ts";
import { takeToken } from "./tokens/token-variable.ts";

const outputLost = new Set<(error: NodeJS.ErrnoException) => void>();
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // A reader that leaves early (`corral events | head`) is no failure of ours.
    const hasLeft = error.code === "EPIPE";
    if (!hasLeft && stream === process.stdout)
      process.stderr.write(
        `error: The output cannot be written: ${error.message}\nhint: Check that there is room on the disk that it goes to\n`,
      );
    if (outputLost.size === 0) process.exit(hasLeft ? 0 : 1);
    for (const listener of outputLost) listener(error);
  });
}

const token = takeToken(process.env);
const command = dispatch(process.argv.slice(2), {
  token,
  home: homeFolder(process.env, process.platform),
  get cwd() {
    return folderHere(() => process.cwd());
  },
  traceId: newTraceId(),
  variables: process.env,
  get stdin() {
    return process.stdin;
  },
  now: () => Date.now(),
  out: outputTo(process.stdout, process.env),
  err: outputTo(process.stderr, process.env),
  get screen() {
    return screenOf(process);
  },
  onInterrupt(listener) {
    process.on("SIGINT", listener);
    return () => process.off("SIGINT", listener);
  },
  onEnd(listener) {
    process.on("SIGTERM", listener).on("SIGHUP", listener);
    return () => process.off("SIGTERM", listener).off("SIGHUP", listener);
  },
  onOutputLost(listener) {
    outputLost.add(listener);
    return () => outputLost.delete(listener);
  },
});

// The bundle, which is CommonJS, cannot wait here. A command that never ends, with nothing left to wait for, has not done what was asked.
process.exitCode = 13;
void command.then((code) => (process.exitCode = code));
