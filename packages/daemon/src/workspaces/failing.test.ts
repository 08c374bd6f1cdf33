import { expect, test } from "vitest";
import { GitFailure } from "../git/index.ts";
import { orSay } from "./failing.ts";

const { signal } = new AbortController();

test("a failure of git says what was not done, in git's words without what a terminal obeys", async () => {
  const failing = () => Promise.reject(new GitFailure("fatal: bad path \u001b[31m\u202ex\n"));
  await expect(orSay("No snapshot was taken", signal, failing)).rejects.toMatchObject({
    code: "workspace.failed",
    message: "No snapshot was taken: fatal: bad path ?[31m?x",
  });
});

test("git that takes too long is told, and a mistake of the daemon's own stays one", async () => {
  const slow = () => Promise.reject(AbortSignal.abort().reason as Error);
  await expect(orSay("No snapshot was taken", signal, slow)).rejects.toMatchObject({
    code: "workspace.failed",
    message: "No snapshot was taken: git took too long",
  });
  const mistake = new TypeError("undefined is not a function");
  await expect(orSay("No snapshot was taken", signal, () => Promise.reject(mistake))).rejects.toBe(mistake);
});
