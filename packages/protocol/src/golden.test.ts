import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventData, type EventType } from "./event.ts";
import { isKnown } from "./event-types.ts";
import { lift, lifts, versionOf } from "./lift.ts";

/**
 * One file for each type and version ever written, `TYPE.vN.json`; more of the same kind as `TYPE.vN-WHAT.json`, for
 * instance when a field was added. `stored` is forever and therefore frozen by its hash; `lifted` follows the present.
 */
interface Golden {
  readonly stored: { readonly type: string; readonly typeVersion: number; readonly data: unknown };
  readonly lifted: { readonly type: string; readonly typeVersion: number; readonly data: unknown };
}

const folder = join(import.meta.dirname, "../golden");
const goldens = readdirSync(folder)
  .filter((file) => file !== "frozen.json")
  .map((file) => ({ file, ...(JSON.parse(readFileSync(join(folder, file), "utf8")) as Golden) }));
const frozen = JSON.parse(readFileSync(join(folder, "frozen.json"), "utf8")) as Record<string, string>;
const types = Object.keys(eventData) as EventType[];

describe("every type", () => {
  test.each(types)("%s has a golden file for each version up to the present one", (type) => {
    const versions = Array.from({ length: versionOf(type) }, (_, index) => index + 1);
    const found = new Set(goldens.filter(({ stored }) => stored.type === type).map(({ stored }) => stored.typeVersion));
    expect([...found].toSorted((a, b) => a - b)).toEqual(versions);
  });

  test.each(types)("%s has each of its fields in a golden file of its present version", (type) => {
    const present = goldens.filter(({ stored }) => stored.type === type && stored.typeVersion === versionOf(type));
    const shown = new Set(present.flatMap(({ stored }) => Object.keys(stored.data as object)));
    expect(Object.keys(eventData[type].shape).filter((field) => !shown.has(field))).toEqual([]);
  });

  test("that has lifts is a type that exists", () => {
    expect(Object.keys(lifts).filter((type) => !Object.hasOwn(eventData, type))).toEqual([]);
  });
});

describe("every golden file", () => {
  test.each(goldens)("$file is named after what it holds", ({ file, stored }) => {
    expect(file).toMatch(new RegExp(`^${RegExp.escape(`${stored.type}.v${stored.typeVersion}`)}(-[a-z-]+)?\\.json$`));
  });

  test.each(goldens)("$file is lifted to what it was said to become", ({ stored, lifted }) => {
    expect(lift(stored)).toEqual(lifted);
  });

  test.each(goldens)("$file, lifted, is what the schema takes, and the schema drops nothing of it", ({ lifted }) => {
    expect(isKnown({ ...envelope, ...lifted })).toBe(true);
    expect(eventData[lifted.type as EventType].parse(lifted.data)).toEqual(lifted.data);
  });

  test("has never changed what was stored", () => {
    const hashes = Object.fromEntries(goldens.map(({ file, stored }) => [file, hashOf(stored)]));
    // A new file is added to frozen.json with the hash shown here. One that changed must change back: what was written is written.
    expect(hashes).toEqual(frozen);
  });
});

const envelope = { seq: 1, stream: "ses_1", version: 1, actor: "person:ada", approximateCreationTime: "" };

function hashOf(stored: Golden["stored"]): string {
  return createHash("sha256").update(JSON.stringify(stored)).digest("hex").slice(0, 16);
}
