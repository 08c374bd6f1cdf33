import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToken, type CreateToken } from "@corral/protocol";
import { expect, onTestFinished, test } from "vitest";
import { historyOf } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import type { Principal } from "../routing/index.ts";
import { openTokens, tokenProjections } from "./index.ts";

const owner: Principal = { person: "owner", scope: "admin" };
const by = { actor: "person:owner" };
const start = Date.parse("2030-01-01T00:00:00Z");

/** Tokens over a log in a file, which can be opened again, and a clock to turn. */
async function stand() {
  const folder = mkdtempSync(join(tmpdir(), "corral-tokens-"));
  const file = join(folder, "corral.db");
  const clock = { now: start };
  const open = async () => {
    const log = await openSqliteLog({ file, projections: tokenProjections });
    const tokens = await openTokens(log, { ownerSecret: "the owner's", now: () => clock.now });
    return { log, tokens };
  };
  let { log, tokens } = await open();
  onTestFinished(async () => {
    tokens.close();
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    clock,
    get log() {
      return log;
    },
    get tokens() {
      return tokens;
    },
    make: (wish: Partial<CreateToken> & { name: string }, maker = owner) =>
      tokens.create(createToken.parse(wish), maker, { actor: `person:${maker.person}` }),
    as(secret: string): Principal {
      const found = tokens.find(secret);
      if (found === undefined) throw new Error("nobody");
      return found;
    },
    async reopen() {
      tokens.close();
      await log.close();
      ({ log, tokens } = await open());
    },
    bytes: () => readFileSync(file, "latin1") + readFileSync(`${file}-wal`, "latin1"),
  };
}

test("the owner's secret is the person owner, an admin, and no other is", async () => {
  const { tokens } = await stand();
  expect(tokens.find("the owner's")).toEqual(owner);
  expect([tokens.find("the owner"), tokens.find(""), tokens.find("corral_x")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("a token stands for its person, within its scope and bounds, also after a restart", async () => {
  const at = await stand();
  const made = await at.make({ name: "ci", scope: "prompt", project: "prj_a", expiresInSeconds: 60 });
  expect(made).toEqual({
    id: expect.stringMatching(/^tok_/),
    name: "ci",
    person: "ci",
    scope: "prompt",
    project: "prj_a",
    expiresAt: "2030-01-01T00:01:00.000Z",
    state: "valid",
    token: expect.stringMatching(/^corral_[\w-]{43}$/),
  });
  const { id, person, scope, project, expiresAt } = made;
  const principal = { person, scope, project, expiresAt, token: id, over: expect.any(AbortSignal) };
  expect(at.tokens.find(made.token)).toEqual(principal);
  await at.reopen();
  expect(at.tokens.find(made.token)).toEqual(principal);
});

test("the secret is in no event and nowhere in the file", async () => {
  const at = await stand();
  const { token, id } = await at.make({ name: "ci" });
  const [stored] = await historyOf(at.log, id);
  expect(stored).toMatchObject({ stream: id, type: "token.created", actor: "person:owner" });
  expect(JSON.stringify(stored)).not.toContain(token.slice(8));
  expect(at.bytes()).toContain(id);
  expect(at.bytes()).not.toContain(token.slice(8));
});

test("revoking is durable, tells who holds it, and can be repeated", async () => {
  const at = await stand();
  const { token, id } = await at.make({ name: "ci" });
  const { over } = at.as(token);
  expect(await Promise.all([at.tokens.revoke(id, by), at.tokens.revoke(id, by)])).toEqual([
    "revoked",
    "already-revoked",
  ]);
  expect([over?.aborted, at.tokens.find(token)]).toEqual([true, undefined]);
  expect(await at.tokens.revoke(id, by)).toBe("already-revoked");
  expect(await at.tokens.revoke("tok_none", by)).toBeUndefined();
  await at.reopen();
  expect([at.tokens.find(token), at.tokens.list()[0]?.state]).toEqual([undefined, "revoked"]);
});

test("a token ends with its time, and whoever uses it is told", async () => {
  const at = await stand();
  const { token } = await at.make({ name: "ci", expiresInSeconds: 1 });
  const { over } = at.as(token);
  at.clock.now += 999;
  expect(at.tokens.find(token)).toBeDefined();
  at.clock.now += 1;
  expect([at.tokens.find(token), at.tokens.list()[0]?.state]).toEqual([undefined, "expired"]);
  await expect.poll(() => over?.aborted).toBe(true);
});

test("a token ends with the one that it was made with, however far above", async () => {
  const at = await stand();
  const first = await at.make({ name: "first", scope: "operate" });
  const second = await at.make({ name: "second", scope: "operate" }, at.as(first.token));
  const third = await at.make({ name: "third", scope: "prompt" }, at.as(second.token));
  const other = await at.make({ name: "other" });
  const { over } = at.as(third.token);
  await at.tokens.revoke(first.id, by);
  expect(over?.aborted).toBe(true);
  expect(at.tokens.list().map(({ name, state }) => `${name} ${state}`)).toEqual([
    "first revoked",
    "second revoked",
    "third revoked",
    "other valid",
  ]);
  expect(at.tokens.find(third.token)).toBeUndefined();
  await at.reopen();
  expect([at.tokens.find(third.token), at.tokens.find(other.token)?.person]).toEqual([undefined, "other"]);
});

test("no token exceeds its maker", async () => {
  const at = await stand();
  const wish = { name: "mine", person: "ann", scope: "operate", project: "prj_a", session: "ses_a" } as const;
  const maker = at.as((await at.make({ ...wish, expiresInSeconds: 60 })).token);
  const tooMuch: Partial<CreateToken>[] = [
    { scope: "admin" },
    { person: "bob" },
    { project: "prj_b" },
    { session: "ses_b" },
    { expiresInSeconds: 61 },
  ];
  for (const more of tooMuch) {
    await expect(at.make({ name: "more", ...more }, maker)).rejects.toMatchObject({ code: "auth.scope" });
  }
  expect(await at.make({ name: "same" }, maker)).toMatchObject({
    person: "ann",
    scope: "read",
    project: "prj_a",
    session: "ses_a",
    expiresAt: maker.expiresAt,
    madeWith: maker.token,
  });
  const boundAdmin = at.as((await at.make({ name: "b", person: "bob", scope: "admin", project: "prj_a" })).token);
  await expect(at.make({ name: "c", person: "ann" }, boundAdmin)).rejects.toMatchObject({ code: "auth.scope" });
});
