import { readFileSync } from "node:fs";
import { join } from "node:path";
import { callsTool, fails, says } from "@corral/daemon/testing";
import { expect, test } from "vitest";
import { entriesIn, setStage } from "./story.ts";

const key = "sk-ant-api03-Zk9xW2qLr7vB4nTe";
const later = "sk-proj-8fKq2vXw7LmZ0aRt";

/** A command that prints the secret without holding it. */
const prints = (secret: string) => `printf '%s%s\n' ${secret.slice(0, 9)} ${secret.slice(9)}`;

test("keys of providers that commands print and models say are nowhere in the home, the exports and what is shown", async () => {
  await using stage = await setStage({ variables: { ANTHROPIC_API_KEY: key } });
  await stage.serve();
  const run = stage.corral("run", "--json", "look around");
  (await stage.model.nextRequest()).answer(
    says(`It is ${key}.`, { pieces: 8 }),
    callsTool("shell", { command: `${prints(key)}; seq 40000; ${prints(key)}; ${prints(key)} >&2` }),
    callsTool("shell", { command: `touch ran; echo ${key}` }),
  );
  const second = await stage.model.nextRequest();
  const login = stage.corral("auth", "login", "openai");
  login.process.stdin?.end(`${later}\n`);
  expect(await login.exit).toBe(0);
  second.answer(callsTool("shell", { command: `ls ran; ${prints(later)}` }));
  const third = await stage.model.nextRequest();
  third.answer(fails(400, { message: `The key ${key} may not do this.` }));
  expect(await run.exit).toBe(1);
  expect(second.toolResults.map(({ text }) => text)).toEqual([
    expect.stringContaining("[masked: ANTHROPIC_API_KEY]\n1\n2\n"),
    expect.stringContaining("Its arguments held a secret (ANTHROPIC_API_KEY), so it was not run."),
  ]);
  expect(third.toolResults.map(({ text }) => text)).toEqual([expect.stringContaining("[masked: OPENAI_API_KEY]\n")]);
  expect(JSON.stringify(third.toolResults)).toContain("No such file");

  const refused = stage.corral("run", `use ${key}`);
  expect([await refused.exit, refused.stdout()]).toEqual([1, ""]);
  expect(refused.stderr()).toContain("This holds a secret (ANTHROPIC_API_KEY), so it was not accepted");

  const exported = stage.corral("export");
  await exported.exit;
  const listed = stage.corral("artifacts", "--json");
  await listed.exit;
  const [artifact] = /art_\w+/.exec(listed.stdout()) ?? [];
  const shown = stage.corral("artifacts", "show", artifact ?? "");
  await shown.exit;
  await stage.corral("stop", "--now").exit;

  const { home, model } = stage;
  const files = entriesIn(home).filter(({ path, isFile }) => isFile && path !== join(home, "credentials.json"));
  const places = {
    "what was shown": run.stdout() + run.stderr(),
    "the export": exported.stdout(),
    "the artifact": shown.stdout(),
    "the home": files.map(({ path }) => readFileSync(path, "latin1")).join("\n"),
    "what the model was sent": JSON.stringify(model.requests.map(({ body }) => body)),
  };
  const found = Object.entries(places).map(([place, text]) => [
    place,
    {
      masked: text.includes("[masked: ANTHROPIC_API_KEY]"),
      secrets: [key, later].filter((each) => text.includes(each)),
    },
  ]);
  const none = Object.keys(places).map((place) => [place, { masked: true, secrets: [] }]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(none));
});
