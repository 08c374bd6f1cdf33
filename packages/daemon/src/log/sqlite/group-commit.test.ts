import { describe, expect, test } from "vitest";
import { type CommitWatcher, GroupCommit, type Transaction } from "./group-commit.ts";

describe("group commit", () => {
  test("work of one loop turn shares a transaction, each piece in its own savepoint", async () => {
    const { commits, steps } = start();
    expect(await Promise.all([commits.add(() => 1), commits.add(() => 2)])).toEqual([1, 2]);
    expect(steps).toEqual(["begin", "savepoint", "release", "savepoint", "release", "commit", "told"]);
  });

  test("work that arrives in several callbacks of one loop turn meets in one transaction", async () => {
    const { commits, steps } = start();
    const added = await new Promise<Promise<number>[]>((resolve) => {
      const promises: Promise<number>[] = [];
      // Two timers that are due together run in one phase, as two channels that are readable do.
      setTimeout(() => promises.push(commits.add(() => 1)), 1);
      setTimeout(() => resolve([...promises, commits.add(() => 2)]), 1);
    });
    expect(await Promise.all(added)).toEqual([1, 2]);
    expect(steps.filter((step) => step === "commit")).toEqual(["commit"]);
  });

  test("work added while others hear of a commit goes into the next transaction", async () => {
    const { commits, steps } = start();
    await commits.add(() => 1).then(() => commits.add(() => 2));
    expect(steps.filter((step) => step === "commit")).toEqual(["commit", "commit"]);
  });

  test("a piece that throws is undone and rejects alone, and is told before the next one runs", async () => {
    const { commits, steps } = start();
    const outcomes = await Promise.allSettled([
      commits.add(() => steps.push("first")),
      commits.add(fail("no"), () => steps.push("refused")),
      commits.add(() => steps.push("third")),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(steps.slice(3)).toEqual([
      "release",
      "savepoint",
      "undo",
      "refused",
      "savepoint",
      "third",
      "release",
      "commit",
      "told",
    ]);
  });

  test("when the commit fails every piece rejects, nobody is told, and the next batch starts afresh", async () => {
    const { commits, steps, broken } = start();
    broken.add("commit");
    const refused: unknown[] = [];
    const outcomes = await Promise.allSettled([
      commits.add(
        () => 1,
        (error) => refused.push(error),
      ),
      commits.add(fail("its own reason")),
      commits.add(
        () => 3,
        (error) => refused.push(error),
      ),
    ]);
    expect(outcomes.map((outcome) => outcome.status === "rejected" && (outcome.reason as Error).message)).toEqual([
      "abandoned: commit",
      "its own reason",
      "abandoned: commit",
    ]);
    expect(refused.map((error) => (error as Error).message)).toEqual(["abandoned: commit", "abandoned: commit"]);
    expect(steps.slice(-2)).toEqual(["commit", "rollback"]);

    broken.clear();
    expect(await commits.add(() => 4)).toBe(4);
    expect(steps.slice(-5)).toEqual(["begin", "savepoint", "release", "commit", "told"]);
  });

  test("when the store gives up the transaction under a piece, the whole batch rejects", async () => {
    const { commits, steps, giveUp } = start();
    const outcomes = await Promise.allSettled([
      commits.add(() => 1),
      commits.add(() => {
        giveUp();
        throw new Error("disk full");
      }),
      commits.add(() => steps.push("never")),
    ]);
    expect(outcomes.map((outcome) => outcome.status === "rejected" && (outcome.reason as Error).message)).toEqual(
      Array(3).fill("abandoned: disk full"),
    );
    expect(steps).toEqual(["begin", "savepoint", "release", "savepoint"]);
  });

  test("a transaction that cannot begin rejects its batch and nothing else", async () => {
    const { commits, broken } = start();
    broken.add("begin");
    await expect(commits.add(() => 1)).rejects.toThrow("abandoned: begin");
    broken.clear();
    expect(await commits.add(() => 2)).toBe(2);
  });

  test("flushing commits at once, and an empty flush does nothing", async () => {
    const { commits, steps } = start();
    const added = commits.add(() => 1);
    commits.flush();
    const done = steps.length;
    commits.flush();
    expect([await added, done, steps.length]).toEqual([1, 5, 5]);
  });
});

/** A store that notes what is asked of it and fails where the test says. */
function start() {
  const steps: string[] = [];
  const broken = new Set<string>();
  let isOpen = false;
  const step = (name: string, then?: boolean) => () => {
    steps.push(name);
    if (broken.has(name)) throw new Error(name);
    isOpen = then ?? isOpen;
  };
  const transaction: Transaction = {
    begin: step("begin", true),
    commit: step("commit", false),
    rollback: step("rollback", false),
    savepoint: step("savepoint"),
    release: step("release"),
    undo: step("undo"),
    get isOpen() {
      return isOpen;
    },
  };
  const watcher: CommitWatcher = {
    begun: () => {},
    committed: () => steps.push("told"),
    abandoned: (error) => new Error(`abandoned: ${(error as Error).message}`),
  };
  return { commits: new GroupCommit(transaction, watcher), steps, broken, giveUp: () => (isOpen = false) };
}

function fail(message: string): () => never {
  return () => {
    throw new Error(message);
  };
}
