import type { PlaceLimit, ProjectId, SessionId } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { placeLimitsFrom } from "./limits.ts";
import { Places } from "./places.ts";

/** Sessions are named by their project's letter and a number. */
function stand(wish: Partial<Record<PlaceLimit, number>> = {}) {
  const limits: Record<PlaceLimit, number> = {
    "sessions.atOnce": 2,
    "sessions.atOncePerProject": 100,
    "environments.atOnce": 100,
    "environments.atOncePerProject": 100,
    ...wish,
  };
  const given: string[] = [];
  const closings = new Map<string, PromiseWithResolvers<boolean>>();
  const places = new Places({
    limits: () => limits,
    onGiven: (session) => void given.push(session.slice(4)),
    close(session) {
      const closing = Promise.withResolvers<boolean>();
      closings.set(session.slice(4), closing);
      return closing.promise;
    },
  });
  const id = (name: string): SessionId => `ses_${name}`;
  const project = (name: string): ProjectId => `prj_${name[0]}`;
  return {
    places,
    limits,
    given,
    closings,
    claim: (...names: string[]) => names.map((name) => places.claim(id(name), project(name))),
    release: (...names: string[]) => names.forEach((name) => places.release(id(name))),
    opened: (...names: string[]) => names.forEach((name) => places.opened(id(name), project(name))),
    closed: (name: string) => places.closed(id(name)),
    leave: (name: string) => places.leave(id(name)),
    touched: (name: string) => places.touched(id(name)),
    line: () => [...places.standings().keys()].map((session) => session.slice(4)).join(" "),
    standing: (name: string) => places.standings().get(id(name)),
    /** Ends the closing of its environment. */
    close: async (name: string, isClosed: boolean) => {
      closings.get(name)!.resolve(isClosed);
      await places.settled(id(name));
    },
  };
}

describe("places", () => {
  test("are given as far as there are any, and those given back go to the line in its order", () => {
    const { claim, release, given, line, places } = stand();
    expect(claim("a1", "a2", "a3", "a4", "b1")).toEqual([true, true, false, false, false]);
    expect([line(), places.taken]).toEqual(["b1 a3 a4", { sessions: 2, environments: 2, inLine: 3 }]);
    release("a1");
    release("a2");
    expect(given).toEqual(["b1", "a3"]);
    expect(claim("b1", "a4")).toEqual([true, false]);
  });

  test("are had once: claimed again, given back again", () => {
    const { claim, release, places } = stand({ "sessions.atOnce": 1 });
    expect(claim("a1", "a1", "a1")).toEqual([true, true, true]);
    release("a1", "a1");
    expect(places.taken.sessions).toBe(0);
    expect(claim("a2")).toEqual([true]);
  });

  test("do not go to a session that keeps itself busy while others wait", () => {
    const { claim, release, given } = stand({ "sessions.atOnce": 1 });
    claim("a1", "a2", "a3");
    for (const busy of ["a1", "a2", "a3", "a1"]) {
      release(busy);
      expect(claim(busy)).toEqual([false]);
    }
    expect(given).toEqual(["a2", "a3", "a1", "a2"]);
  });

  test("go to another project's one before the forty of one that has some at work", () => {
    const { claim, release, given } = stand();
    claim(...Array.from({ length: 42 }, (_, n) => `a${n}`), "b1");
    release("a0");
    expect(given).toEqual(["b1"]);
  });

  test("of a project's own limit hold up nobody else", () => {
    const { claim, release, given, standing } = stand({ "sessions.atOnce": 3, "sessions.atOncePerProject": 1 });
    expect(claim("a1", "a2", "b1")).toEqual([true, false, true]);
    expect(standing("a2")).toEqual({ limit: "sessions.atOncePerProject", most: 1, position: 1 });
    release("a1");
    expect(given).toEqual(["a2"]);
  });

  test("that are more by a new limit are given at once", () => {
    const { claim, limits, given, places, standing } = stand();
    claim("a1", "a2", "a3", "a4");
    expect(standing("a4")).toEqual({ limit: "sessions.atOnce", most: 2, position: 2 });
    limits["sessions.atOnce"] = 4;
    places.look();
    expect(given).toEqual(["a3", "a4"]);
  });

  test("are taken from nobody when a limit goes down, and given to nobody until there is room", () => {
    const { claim, release, limits, given } = stand();
    claim("a1", "a2", "a3");
    limits["sessions.atOnce"] = 1;
    release("a1");
    expect(given).toEqual([]);
    release("a2");
    expect(given).toEqual(["a3"]);
  });

  test("are not kept for one that left the line", () => {
    const { claim, release, leave, given } = stand({ "sessions.atOnce": 1 });
    claim("a1", "a2", "a3");
    expect([leave("a2"), leave("a2")]).toEqual([true, false]);
    release("a1");
    expect(given).toEqual(["a3"]);
  });
});

describe("an environment at rest", () => {
  const full = { "sessions.atOnce": 10, "environments.atOnce": 2 };

  test("makes room for a session in line, the one that rested longest first, and only as many as are needed", async () => {
    const { claim, release, opened, close, closings, given, standing } = stand(full);
    claim("a1", "a2");
    opened("a1", "a2");
    release("a2", "a1");
    expect(claim("b1")).toEqual([false]);
    expect([...closings.keys()]).toEqual(["a2"]);
    expect(standing("b1")).toEqual({ limit: "environments.atOnce", most: 2, position: 1 });
    await close("a2", true);
    expect([given, [...closings.keys()]]).toEqual([["b1"], ["a2"]]);
  });

  test("is there for its own session, which needs no other", () => {
    const { claim, release, opened, closings } = stand(full);
    claim("a1", "a2");
    opened("a1", "a2");
    release("a1");
    expect(claim("a1")).toEqual([true]);
    expect(closings.size).toBe(0);
  });

  test("that is being closed gives its session no place before that is over", async () => {
    const { claim, release, opened, close, given } = stand(full);
    claim("a1", "a2");
    opened("a1", "a2");
    release("a1");
    claim("b1");
    expect(claim("a1")).toEqual([false]);
    await close("a1", true);
    expect(given).toEqual(["b1"]);
    release("a2");
    await close("a2", true);
    expect(given).toEqual(["b1", "a1"]);
  });

  test("whose session keeps itself busy is closed for who waits", async () => {
    const { claim, release, opened, close, given } = stand({ ...full, "environments.atOnce": 1 });
    claim("a1");
    opened("a1");
    claim("a2");
    release("a1");
    expect(claim("a1")).toEqual([false]);
    await close("a1", true);
    expect(given).toEqual(["a2"]);
  });

  test("that turns out to be in use stays, and the next is closed; it can be again when that changes", async () => {
    const { claim, release, opened, close, closings, given, touched } = stand(full);
    claim("a1", "a2");
    opened("a1", "a2");
    release("a1", "a2");
    claim("b1", "b2");
    await close("a1", false);
    expect([...closings.keys()]).toEqual(["a1", "a2"]);
    await close("a2", true);
    expect(given).toEqual(["b1"]);
    closings.clear();
    touched("a1");
    await close("a1", true);
    expect(given).toEqual(["b1", "b2"]);
  });

  test("of a project is closed for that project's own limit", () => {
    const { claim, release, opened, closings, standing } = stand({
      "sessions.atOnce": 10,
      "environments.atOncePerProject": 1,
    });
    claim("b1", "a1");
    opened("b1", "a1");
    release("b1", "a1");
    expect(claim("a2")).toEqual([false]);
    expect([...closings.keys()]).toEqual(["a1"]);
    expect(standing("a2")?.limit).toBe("environments.atOncePerProject");
  });

  test("that ended by itself makes room, too", () => {
    const { claim, closed, opened, given, places } = stand({ ...full, "environments.atOnce": 1 });
    opened("a1");
    claim("a1");
    claim("a2");
    expect(places.taken).toEqual({ sessions: 1, environments: 1, inLine: 1 });
    places.release("ses_a1");
    closed("a1");
    expect(given).toEqual(["a2"]);
  });
});

describe.each([1, 2, 3, 4, 5, 6, 7, 8])("whatever happens (seed %i)", (seed) => {
  test("limits hold, nobody starves, and everybody who claims gets a place", async () => {
    const random = seeded(seed);
    const limits = { "sessions.atOnce": 3, "sessions.atOncePerProject": 2, "environments.atOnce": 4 };
    const { places, claim, release, opened, given, closings } = stand(limits);
    const all = ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"];
    const atWork = new Set<string>();
    const asked = new Map<string, number>();
    const waited: number[] = [];
    let turns = 0;
    const begin = (name: string) => {
      atWork.add(name);
      opened(name);
      const since = asked.get(name);
      if (since !== undefined) waited.push(turns - since);
      asked.delete(name);
      turns += 1;
    };
    for (let step = 0; step < 400; step++) {
      const name = all[Math.floor(random() * all.length)]!;
      if (atWork.has(name)) {
        atWork.delete(name);
        release(name);
        // It wants more at once, as one that wakes itself does.
        if (claim(name)[0] === true) begin(name);
        else asked.set(name, turns);
      } else if (!asked.has(name)) {
        if (claim(name)[0] === true) begin(name);
        else asked.set(name, turns);
      }
      for (const [victim, closing] of closings) {
        expect(atWork).not.toContain(victim);
        closing.resolve(true);
        closings.delete(victim);
        await places.settled(`ses_${victim}`);
      }
      for (const each of given.splice(0)) begin(each);
      const { sessions, environments } = places.taken;
      expect(sessions).toBe(atWork.size);
      expect(sessions).toBeLessThanOrEqual(3);
      expect(environments).toBeLessThanOrEqual(4);
      expect([...atWork].filter((each) => each.startsWith("a")).length).toBeLessThanOrEqual(2);
    }
    // More than once for everybody before one is served would be unfair.
    expect(Math.max(...waited)).toBeLessThanOrEqual(3 * all.length);
    expect(turns).toBeGreaterThan(100);
  });
});

describe("limits that nobody set", () => {
  const open = {
    "sessions.atOnce": 0,
    "sessions.atOncePerProject": null,
    "environments.atOnce": 0,
    "environments.atOncePerProject": null,
  };

  test("follow the machine's processors and memory", () => {
    const small = placeLimitsFrom(open, { processors: 2, memoryBytes: 2 ** 30 });
    expect(small).toEqual({
      "sessions.atOnce": 4,
      "sessions.atOncePerProject": 4,
      "environments.atOnce": 8,
      "environments.atOncePerProject": 8,
    });
    expect(placeLimitsFrom(open, { processors: 2, memoryBytes: 2 ** 36 })["sessions.atOnce"]).toBe(24);
    expect(placeLimitsFrom(open, { processors: 1, memoryBytes: 1 })["sessions.atOnce"]).toBe(1);
  });

  test("give way to those that somebody set", () => {
    const set = { ...open, "sessions.atOnce": 3, "environments.atOncePerProject": 2 };
    expect(placeLimitsFrom(set, { processors: 2, memoryBytes: 2 ** 36 })).toEqual({
      "sessions.atOnce": 3,
      "sessions.atOncePerProject": 3,
      "environments.atOnce": 6,
      "environments.atOncePerProject": 2,
    });
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
