import type { ChildProcess } from "node:child_process";
import { CorralError } from "@corral/protocol";
import { descriptorLimit, openDescriptors } from "./count.ts";

const exhausted: ReadonlySet<unknown> = new Set(["EMFILE", "ENFILE", "descriptors.exhausted"]);

/** Set when something failed because no more files can be opened, which passes. */
export function shortageIn(error: unknown): CorralError | undefined {
  for (let each = error, depth = 0; each instanceof Error && depth < 10; each = each.cause, depth++)
    if (exhausted.has((each as NodeJS.ErrnoException).code))
      return each instanceof CorralError ? each : shortOfDescriptors(each);
  return undefined;
}

/** Names the limit, and what to do about it. */
function shortOfDescriptors(cause?: unknown): CorralError {
  const isOfMachine = (cause as NodeJS.ErrnoException | undefined)?.code === "ENFILE";
  const limit = isOfMachine ? "of this machine (fs.file-max)" : `of this process (ulimit -n: ${descriptorLimit()})`;
  return new CorralError("descriptors.exhausted", `No more files can be opened: the limit ${limit} is reached.`, {
    retry: "later",
    hint: isOfMachine
      ? "Raise it: sysctl fs.file-max"
      : "Raise it: `corral stop`, then `ulimit -n 4096` (LimitNOFILE= in a systemd unit) where the daemon is started",
    cause,
  });
}

/** With the last ones what is at work goes on and people are answered; nothing new begins. */
const mostReserved = 64;

/** Throws `descriptors.exhausted` when too few descriptors are left to begin new work. */
export function mustHaveDescriptors(): void {
  const limit = descriptorLimit();
  if (limit === Infinity) return;
  let open: number;
  try {
    open = openDescriptors();
  } catch (error) {
    throw shortOfDescriptors(error);
  }
  if (open > limit - Math.min(mostReserved, limit / 4)) throw shortOfDescriptors();
}

/** A child that was started when no descriptors were left has no pipes, whatever its type says, and its error comes later. */
export function mustHavePipes<T extends ChildProcess>(child: T): T {
  if ((child.stdio as ChildProcess["stdio"] | undefined) !== undefined) return child;
  child.on("error", () => undefined);
  throw shortOfDescriptors(Object.assign(new Error("spawn EMFILE"), { code: "EMFILE" }));
}
