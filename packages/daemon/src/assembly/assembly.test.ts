import { expect, test } from "vitest";
import { openCapabilities } from "../capabilities/index.ts";
import { openSlices } from "./assembly.ts";

declare module "./port.ts" {
  interface Parts {
    readonly soil: string;
    readonly tree: string;
    readonly fruit: string;
  }
}

/** Three slices, each made of the one before, that tell what is done with them. */
function orchard() {
  const done: string[] = [];
  const phases = (name: string) => ({
    mend: () => void done.push(`mend ${name}`),
    begin: async () => void done.push(`begin ${name}`),
    serve: () => void done.push(`serve ${name}`),
    cleanUp: async () => void done.push(`clean ${name}`),
    stop: () => void done.push(`stop ${name}`),
    settle: async () => void done.push(`settle ${name}`),
    close: () => void done.push(`close ${name}`),
  });
  const soil = {
    name: "soil" as const,
    needs: [] as const,
    open() {
      done.push("open soil");
      return "soil";
    },
    ...phases("soil"),
  };
  const tree = {
    name: "tree" as const,
    needs: ["soil"] as const,
    async open(parts: object) {
      done.push("open tree");
      return `tree in ${Object.values(parts).join()}`;
    },
    ...phases("tree"),
  };
  const fruit = {
    name: "fruit" as const,
    needs: ["tree"] as const,
    open(parts: object) {
      done.push("open fruit");
      return `fruit of ${Object.values(parts).join()}`;
    },
    ...phases("fruit"),
  };
  return { done, soil, tree, fruit };
}

const patient = new AbortController().signal;

test("slices are opened in the order of the list, each from exactly what it needs", async () => {
  const { done, soil, tree, fruit } = orchard();
  const { parts } = await openSlices([soil, tree, fruit], {});
  expect(done).toEqual(["open soil", "open tree", "open fruit"]);
  expect(parts.fruit).toBe("fruit of tree in soil");
});

test("a list in which a slice needs a later one is refused, with their names, before anything is opened", async () => {
  const { done, soil, tree, fruit } = orchard();
  await expect(openSlices([soil, fruit, tree], {})).rejects.toThrow(
    "The slice fruit needs tree, which no slice before it makes.",
  );
  await expect(openSlices([soil, tree, soil], {})).rejects.toThrow("Two slices are called soil.");
  expect(done).toEqual([]);
});

test("all slices go through each phase before any goes through the next: to start in order, to stop in reverse", async () => {
  const { done, soil, tree, fruit } = orchard();
  const daemon = await openSlices([soil, tree, fruit], {});
  done.length = 0;
  await daemon.begin();
  const up = ["soil", "tree", "fruit"];
  const inOrder = (phase: string) => up.map((name) => `${phase} ${name}`);
  expect(done.splice(0)).toEqual(["mend", "begin", "serve", "clean"].flatMap(inOrder));
  await daemon.stop(patient);
  expect(done).toEqual(["stop", "settle", "close"].flatMap((phase) => inOrder(phase).toReversed()));
});

test("a slice that stops finishes what it cleans up before those that it is made of stop", async () => {
  const { done, soil, tree, fruit } = orchard();
  const cleaning = Promise.withResolvers<void>();
  const slow = {
    ...fruit,
    cleanUp: () => cleaning.promise.then(() => void done.push("fruit is clean")),
    settle() {
      cleaning.resolve();
    },
  };
  const daemon = await openSlices([soil, tree, slow], {});
  await daemon.begin();
  done.length = 0;
  await daemon.stop(patient);
  expect(done.slice(3, 5)).toEqual(["fruit is clean", "settle tree"]);
});

test("a part that is given takes the place of its slice, which is neither opened nor closed", async () => {
  const { done, soil, tree, fruit } = orchard();
  const daemon = await openSlices([soil, tree, fruit], { tree: "a bush" });
  expect(daemon.parts.fruit).toBe("fruit of a bush");
  await daemon.begin();
  await daemon.stop(patient);
  expect(done.filter((each) => each.endsWith("tree"))).toEqual([]);
});

test("what slices provide to runs is provided once they are open", async () => {
  const { soil } = orchard();
  const capabilities = openCapabilities();
  const providing = { ...soil, provides: (part: string) => ({ [`${part}.dig`]: () => Promise.resolve({}) }) as never };
  await expect(openSlices([providing], {})).rejects.toThrow("The slice soil needs capabilities");
  await openSlices([providing], { capabilities });
  expect(capabilities.names).toEqual(["soil.dig"]);
});
