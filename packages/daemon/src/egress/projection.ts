import type { Projection } from "../log/index.ts";
import { keyOf } from "./ledger.ts";

/** The newest figures of each session and host. */
const contacts: Projection = {
  table: "network_contacts",
  version: 1,
  columns: { session: "text", contact: "text", time: "text", seq: "integer" },
  indexes: [["session"]],
  changes: ({ stream, seq, approximateCreationTime, ...stored }) => {
    if (stored.type !== "network.reached") return [];
    const set = { session: stream, contact: JSON.stringify(stored.data), time: approximateCreationTime, seq };
    return [{ key: `${stream} ${keyOf(stored.data)}`, set }];
  },
};

export const egressProjections: readonly Projection[] = [contacts];
