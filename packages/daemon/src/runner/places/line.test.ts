import { describe, expect, test } from "vitest";
import { nextInLine, orderOfLine, type Share, type Waiter } from "./line.ts";

const waiter = (name: string): Waiter => ({
  session: `ses_${name}`,
  project: `prj_${name[0]}`,
});
const names = (line: readonly Waiter[]) => line.map(({ session }) => session.slice("ses_".length)).join(" ");
const nothingYet = (): Share => ({ atWork: 0, lastGiven: 0 });

describe("the order of the line", () => {
  test("is that of coming within a project, and by turns between projects", () => {
    const line = ["a1", "a2", "a3", "b1", "c1", "b2"].map(waiter);
    expect(names(orderOfLine(line, nothingYet))).toBe("a1 b1 c1 a2 b2 a3");
  });

  test("has those of projects with fewer at work first, and of as many that which had a place longest ago", () => {
    const shares: Record<string, Share> = {
      prj_a: { atWork: 2, lastGiven: 1 },
      prj_b: { atWork: 1, lastGiven: 9 },
      prj_c: { atWork: 1, lastGiven: 5 },
    };
    const line = ["a1", "b1", "c1"].map(waiter);
    expect(names(orderOfLine(line, (project) => shares[project]!))).toBe("c1 b1 a1");
  });

  test("goes on with the next where the first may not be", () => {
    const line = ["a1", "a2", "b1"].map(waiter);
    expect(nextInLine(line, nothingYet, ({ session }) => session !== "ses_a1")).toEqual(waiter("a2"));
    expect(nextInLine(line, nothingYet, ({ project }) => project !== "prj_a")).toEqual(waiter("b1"));
    expect(nextInLine(line, nothingYet, () => false)).toBeUndefined();
  });
});

describe.each([1, 2, 3, 4, 5])("whatever the line is (seed %i)", (seed) => {
  const random = seeded(seed);
  const lines = Array.from({ length: 60 }, () => {
    const count = 1 + Math.floor(random() * 40);
    return Array.from({ length: count }, (_, n) => waiter(`${"abcde"[Math.floor(random() ** 2 * 5)]}${n}`));
  });

  test("everybody has one place in it, and within a project nobody overtakes", () => {
    for (const line of lines) {
      const order = orderOfLine(line, nothingYet);
      expect(new Set(order)).toEqual(new Set(line));
      expect(order).toHaveLength(line.length);
      for (const { project } of line)
        expect(order.filter((each) => each.project === project)).toEqual(
          line.filter((each) => each.project === project),
        );
    }
  });

  test("nobody waits for more than one of each other project before each of its own", () => {
    for (const line of lines) {
      const order = orderOfLine(line, nothingYet);
      for (const [at, { project }] of order.entries()) {
        const before = order.slice(0, at);
        const own = before.filter((each) => each.project === project).length;
        for (const other of new Set(line.map((each) => each.project)))
          expect(before.filter((each) => each.project === other).length).toBeLessThanOrEqual(own + 1);
      }
    }
  });
});

/** The same numbers for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
