import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event, newId } from "@corral/protocol";
import { expect, onTestFinished, test } from "vitest";
import { historyOf } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { maskedLog } from "./masked-log.ts";
import { Secrets } from "./secrets.ts";

const key = "sk-ant-api03-Zk9xW2qLr7";

test("no event is stored with a secret; where things are stays as it is, and changed reasoning loses its signature", async () => {
  const folder = mkdtempSync(join(tmpdir(), "corral-secrets-"));
  const plain = await openSqliteLog({ file: join(folder, "corral.db"), projections: [] });
  onTestFinished(async () => {
    await plain.close();
    rmSync(folder, { recursive: true });
  });
  const secrets = new Secrets();
  secrets.learn({ name: "KEY", value: key });
  const log = maskedLog(plain, secrets);
  const [id, part, project] = [newId("turn"), newId("part"), newId("project")];
  const signed = { anthropic: { signature: "signed" } };
  const says = (kind: "text" | "reasoning", text: string) =>
    event("turn.said", { id, part, kind, text, providerMetadata: signed });
  const place = event("project.registered", { id: project, path: `/home/${key}`, name: key });
  const events = [says("reasoning", key), says("reasoning", "plain"), says("text", key), place];
  const told = await log.append({ stream: "ses_1", actor: "test", events });
  const stored = await historyOf(log, "ses_1");
  expect(stored).toEqual(told);
  expect(stored.map(({ data }) => data)).toEqual([
    { id, part, kind: "reasoning", text: "[masked: KEY]" },
    { id, part, kind: "reasoning", text: "plain", providerMetadata: signed },
    { id, part, kind: "text", text: "[masked: KEY]", providerMetadata: signed },
    { id: project, path: `/home/${key}`, name: key },
  ]);
});
