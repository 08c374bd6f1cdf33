import { type EventData, isAbout, type ModelFacts, type ModelSource } from "@corral/protocol";
import type { Projection, Row } from "../log/index.ts";

/** Models that are not built in, or are other than built in. */
const models: Projection = {
  table: "models",
  columns: { facts: "text", source: "text" },
  version: 1,
  changes(event) {
    if (!isAbout("model", event)) return [];
    switch (event.type) {
      case "model.added":
      case "model.changed":
        return [{ key: event.data.name, set: columnsOf(event.data) }];
      case "model.removed":
        return [{ key: event.data.name, delete: true }];
    }
  },
};

export const modelProjections: readonly Projection[] = [models];

function columnsOf({ facts, source }: EventData<"model.added">) {
  return { facts: JSON.stringify(facts), source };
}

export function registeredIn(row: Row): {
  readonly name: string;
  readonly facts: ModelFacts;
  readonly source: ModelSource;
} {
  return {
    name: String(row["key"]),
    facts: JSON.parse(String(row["facts"])) as ModelFacts,
    source: row["source"] as ModelSource,
  };
}
