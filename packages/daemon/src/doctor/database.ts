import type { Finding } from "@corral/protocol";

export interface DatabaseTroubles {
  /** The running daemon has met damage in it. */
  readonly isSuspect: boolean;
  /** Damaged ones that were set aside. */
  readonly damaged: readonly string[];
}

/** What was set aside is told of until somebody has removed it. */
export function database({ isSuspect, damaged }: DatabaseTroubles): Finding {
  const about = { name: "database", why: "holds everything that happened" };
  if (isSuspect) return { ...about, state: "failed", found: "it is damaged", fix: suspectFix };
  const [file] = damaged;
  if (file === undefined) return { ...about, state: "ok", found: "no damage is known" };
  return {
    ...about,
    state: "warning",
    found: `a damaged one was set aside, and an empty one begun: ${damaged.join(", ")}`,
    fix: `\`corral export --from ${quoted(file)}\` gives what is readable; then rm ${damaged.map(quoted).join(" ")}`,
  };
}

const suspectFix =
  "`corral stop`; the next start sets it aside and begins an empty one, or `corral backup restore FILE` before that";

function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}
