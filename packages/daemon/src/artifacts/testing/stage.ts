import type { Projection } from "../../log/index.ts";
import { openSqliteLog } from "../../log/sqlite/index.ts";
import { openFolderStore } from "../../storage/folder/index.ts";
import { join } from "node:path";
import { type ArtifactTerms, openArtifacts } from "../artifacts.ts";
import { artifactProjections } from "../projection.ts";

/** Owners are there from their first event until they are erased. */
const owners = (table: "sessions" | "shells", prefix: string): Projection => ({
  table,
  version: 1,
  columns: { seen: "integer" },
  changes: ({ stream }) => (stream.startsWith(prefix) ? [{ key: stream, set: { seen: 1 } }] : []),
});

const removed: Projection = {
  table: "removed_sessions",
  version: 1,
  columns: { how: "text" },
  changes: ({ stream, type }) => (type === "stream.erased" ? [{ key: stream, set: { how: type } }] : []),
};

export interface StageOptions {
  readonly home: string;
  readonly terms?: Partial<ArtifactTerms>;
  readonly now?: () => number;
  readonly onDefect?: (what: string, error: unknown) => void;
}

/** Artifacts on a log and a store of their own, in a folder that another stage may take over. */
export async function openStage({ home, terms = {}, now, onDefect = refuse }: StageOptions) {
  const projections = [...artifactProjections, owners("sessions", "ses_"), owners("shells", "shl_"), removed];
  const log = await openSqliteLog({ file: join(home, "corral.db"), projections });
  const store = await openFolderStore(join(home, "storage", "artifacts"));
  const generous: ArtifactTerms = { maxBytes: 1e9, sessionMaxBytes: 1e9, days: null };
  const artifacts = await openArtifacts({
    ...{ log, store, home, onDefect, terms: () => ({ ...generous, ...terms }) },
    ...(now === undefined ? {} : { now }),
  });
  const close = async () => {
    await artifacts.close();
    await log.close();
  };
  return { log, store, artifacts, close };
}

function refuse(what: string, error: unknown): never {
  throw new Error(what, { cause: error });
}
