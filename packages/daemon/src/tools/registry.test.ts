import { expect, test } from "vitest";
import { z } from "zod";
import { openRegistry } from "./registry.ts";
import type { Tool } from "./tool.ts";
import type { Toolbox } from "./toolbox.ts";

const tool = (name: string, description = name): Tool => ({
  name,
  description,
  parameters: z.object({}),
  effect: "reads",
  run: () => Promise.resolve(description),
  describe: (result) => ({ outcome: "ok", text: `${description}: ${String(result)}` }),
});

const names = ({ offers }: Toolbox) =>
  offers.map(({ name, description }) => (name === description ? name : description));

test("what is added for some is there for these, in the place of what is there for all", () => {
  const registry = openRegistry([tool("read"), tool("shell")]);
  const remove = registry.add([tool("shell", "shell of planners")], { persona: "planner" });
  registry.add([tool("deploy")], { agent: "ada" });
  registry.add([tool("shell", "shell of ses_1")], { session: "ses_1" });
  expect(names(registry.toolbox())).toEqual(["read", "shell"]);
  expect(names(registry.toolbox({ persona: "planner", session: "ses_2" }))).toEqual(["read", "shell of planners"]);
  expect(names(registry.toolbox({ persona: "planner", agent: "ada", session: "ses_1" }))).toEqual([
    "read",
    "shell of ses_1",
    "deploy",
  ]);
  remove();
  expect(names(registry.toolbox({ persona: "planner" }))).toEqual(["read", "shell"]);
});

test("a tool is there when everybody who has a say leaves it in", () => {
  const registry = openRegistry(["read", "write", "shell", "mcp_mail_send", "mcp_mail_read"].map((name) => tool(name)));
  const chosen = (choice: Parameters<typeof registry.toolbox>[1]) => names(registry.toolbox({}, choice));
  expect(chosen({ agent: ["*"] })).toHaveLength(5);
  expect(chosen({ agent: ["*", "!shell"], session: ["read", "shell"] })).toEqual(["read"]);
  expect(chosen({ persona: ["mcp_*", "!*_send"] })).toEqual(["mcp_mail_read"]);
  expect(chosen({ session: [] })).toEqual([]);
  expect(chosen({ session: ["rea."] })).toEqual([]);
});

test("a toolbox stays what it was when the registry changes, and results of what is gone are still described", () => {
  const registry = openRegistry([tool("read")]);
  const remove = registry.add([tool("probe", "first")]);
  const before = registry.toolbox();
  remove();
  registry.add([tool("probe", "second")]);
  expect(before.get("probe")?.description).toBe("first");
  expect(registry.toolbox().get("probe")?.description).toBe("second");
  expect(registry.toolbox({}, { session: ["read"] }).describe("probe", 1)).toEqual({
    outcome: "ok",
    text: "second: 1",
  });
  expect(registry.toolbox().describe("gone", { a: 1 })).toEqual({ outcome: "ok", text: '{"a":1}' });
});

test("of what was offered before, only what is still the same is left", () => {
  const registry = openRegistry([tool("read"), tool("probe", "first")]);
  const { offers } = registry.toolbox();
  registry.add([tool("probe", "second"), tool("new")]);
  const left = registry.toolbox().asOffered(offers);
  expect(left.offers).toEqual(offers);
  expect(["read", "probe", "new"].filter((name) => left.get(name) !== undefined)).toEqual(["read"]);
});
