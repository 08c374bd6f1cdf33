import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Finding, finding } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { dist, setStage } from "./story.ts";

const findingsIn = (text: string): ReadonlyMap<string, Finding> =>
  new Map(
    text
      .trim()
      .split("\n")
      .map((line) => finding.parse(JSON.parse(line)))
      .map((each) => [each.name, each]),
  );

describe("corral doctor", () => {
  test("really opens a jail, starts no daemon, makes no home and shows no key", async () => {
    await using stage = await setStage();
    const doctor = stage.corral("doctor", "--json");
    expect(await doctor.exit).toBe(0);
    const findings = findingsIn(doctor.stdout());
    expect(findings.get("jail")).toMatchObject({ state: "ok", found: "one was opened and ended" });
    for (const name of ["processes limit", "memory limit", "cpu limit", "disk limit", "watches limit"]) {
      expect(findings.get(name)).toMatchObject({ found: expect.stringMatching(/^(hard|soft), /) as string });
    }
    expect([...findings.keys()]).toEqual(expect.arrayContaining(["cgroups", "container engine", "open network"]));
    expect(findings.get("provider keys")).toMatchObject({ state: "ok", found: "ANTHROPIC_API_KEY" });
    expect(doctor.stdout()).not.toContain("sk-story-secret");
    expect(existsSync(stage.home)).toBe(false);
  });

  test("asks the running daemon, which may have other variables", async () => {
    await using stage = await setStage({ variables: { ANTHROPIC_API_KEY: "" } });
    await stage.serve();
    const env = { ...stage.variables, ANTHROPIC_API_KEY: "sk-only-here", COLUMNS: "40" };
    const { stdout } = await promisify(execFile)(process.execPath, [join(dist, "cli.js"), "doctor"], { env });
    expect(stdout).toContain("! provider keys: none\n");
    expect(stdout).toContain("→ `corral auth login anthropic`");
    const lines = stdout.split("\n");
    const fixes = findingsIn(
      (await promisify(execFile)(process.execPath, [join(dist, "cli.js"), "doctor", "--json"], { env })).stdout,
    );
    // What mends it stays in one piece, to be copied into a shell.
    const whole = [...fixes.values()].flatMap(({ fix }) => (fix === undefined ? [] : [`    → ${fix}`]));
    expect(lines).toEqual(expect.arrayContaining(whole));
    // What else is wider is one word, which nobody can break.
    const rest = lines.filter((line) => !line.startsWith("    → "));
    expect(rest.filter((line) => line.length > 40 && line.trim().includes(" "))).toEqual([]);
  });
});
