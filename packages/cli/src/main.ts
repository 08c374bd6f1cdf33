import { newTraceId } from "@corral/protocol/trace";
import { homeFolder } from "./home.ts";
import { dispatch } from "./dispatch.ts";
import { screenOf } from "./screen.ts";
import { outputTo } from "./terminal.ts";

// A reader that leaves early (`corral events | head`) is no failure of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

process.exitCode = await dispatch(process.argv.slice(2), {
  home: homeFolder(process.env, process.platform),
  cwd: process.cwd(),
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
});
