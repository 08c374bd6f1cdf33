import { expect, test } from "vitest";
import { limits } from "./limits.ts";

test("each limit is told with how it is kept, and one that could be hard with what makes it so", () => {
  const found = limits([
    { limit: "processes", kept: "hard", by: "cgroup v2" },
    { limit: "memory", kept: "soft", by: "a look now and then", fix: "sudo make it so" },
    { limit: "disk", kept: "soft", by: "a look now and then" },
    { limit: "watches", kept: "soft", by: "what all share" },
  ]);
  expect(found.map(({ why: _, ...each }) => each)).toEqual([
    { name: "processes limit", state: "ok", found: "hard, cgroup v2" },
    { name: "memory limit", state: "warning", found: "soft, a look now and then", fix: "sudo make it so" },
    { name: "disk limit", state: "ok", found: "soft, a look now and then" },
    { name: "watches limit", state: "ok", found: "soft, what all share" },
  ]);
});

test("of a soft limit of memory it is said by what it can be passed", () => {
  const [found] = limits([{ limit: "memory", kept: "soft", by: "a look now and then" }]);
  expect(found?.why).toBe(
    "keeps an agent's programs from taking the machine's memory; soft, they may between two looks, and whoever sets out to may have the kernel hold more for it",
  );
});

test("of watches that are shared it is said whom one jail may leave without any", () => {
  const [found] = limits([{ limit: "watches", kept: "soft", by: "what all share" }]);
  expect(found?.why).toContain("one may leave none to the others, nor to whoever owns its folder");
});
