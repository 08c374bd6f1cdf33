import { type ShellUse, shellUseOf } from "../../rules/index.ts";
import type { Call, Entry } from "../../sessions/index.ts";

/** What the session's shell has been through, read off the record: all commands that began in it since its environment was opened. */

/** What is left of the shell for the rules: the worst that any command did to it. */
export function disturbedBy(entries: readonly Entry[]): ShellUse["disturbance"] {
  let worst: ShellUse["disturbance"] = "none";
  for (const call of begunIn(entries)) {
    const { disturbance } = useOf(call);
    if (disturbance === "words") return disturbance;
    if (disturbance === "moved") worst = disturbance;
  }
  return worst;
}

/**
 * Where the shell stands. `beginning`: in the folder where shells begin. `moved`: wherever it was after the attempt with this id; it can be asked.
 * `unknown`: other things in it may have changed, too.
 */
export type Standing =
  | { readonly kind: "beginning" }
  | { readonly kind: "moved"; readonly by: string }
  | { readonly kind: "unknown" };

export function standingOf(entries: readonly Entry[]): Standing {
  let standing: Standing = { kind: "beginning" };
  for (const call of begunIn(entries)) {
    const { leaves } = useOf(call);
    if (leaves === "more") return { kind: "unknown" };
    if (leaves === "folder" || mayHaveEndedShell(call)) standing = { kind: "moved", by: `${call.id}-${call.attempt}` };
  }
  return standing;
}

/** A command that was stopped took its shell along. */
function mayHaveEndedShell({ end }: Call): boolean {
  if (end === undefined) return false;
  const result = end.kind === "settled" || end.kind === "interrupted" ? end.result : undefined;
  return (result as { shellRespawned?: boolean } | undefined)?.shellRespawned !== false;
}

const uses = new WeakMap<Call, ShellUse>();

export function isOfShell(call: Call): boolean {
  return commandOf(call) !== undefined;
}

/** What a call of the shell does there. */
export function useOf(call: Call): ShellUse {
  const known = uses.get(call) ?? shellUseOf(commandOf(call) ?? "");
  uses.set(call, known);
  return known;
}

/** While the command runs there is time for it. Where it cannot be found out, whoever needs it is told. */
export function findUse(call: Call): void {
  setImmediate(() => {
    try {
      if (isOfShell(call)) useOf(call);
    } catch {
      uses.delete(call);
    }
  });
}

/** Those of an environment that was closed began in another shell, and those that ran beside others in a further one. */
function* begunIn(entries: readonly Entry[]): Iterable<Call> {
  for (const entry of entries) {
    for (const call of entry.kind === "turn" ? entry.calls : []) {
      const isHere = call.attempt > 0 && !call.environmentClosed && call.beside === undefined;
      if (isHere && isOfShell(call)) yield call;
    }
  }
}

function commandOf({ tool, arguments: { command } }: Call): string | undefined {
  return tool === "shell" && typeof command === "string" ? command : undefined;
}
