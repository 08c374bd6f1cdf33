import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const passing = `
  import { fault } from ${JSON.stringify(new URL("fault.ts", import.meta.url).href)};
  process.on("exit", () => console.log("tidied up"));
  for (const point of ["merge.moved", "merge.recorded", "merge.moved"]) {
    fault(point);
    console.log(point);
  }
`;

const passed = (wish?: string) => {
  const { CORRAL_FAULT: _, ...variables } = process.env;
  const { stdout, signal } = spawnSync(process.execPath, ["--input-type=module", "-e", passing], {
    env: { ...variables, ...(wish === undefined ? {} : { CORRAL_FAULT: wish }) },
    encoding: "utf8",
  });
  return { lines: stdout.trim().split("\n"), signal };
};

test("a process dies without a word the Nth time it passes the point named", () => {
  expect(passed("merge.moved:2")).toEqual({ lines: ["merge.moved", "merge.recorded"], signal: "SIGKILL" });
});

test.each([undefined, "", "merge.moved", "merge.moved:3", "merge.other:1"])("with %s it goes on", (wish) => {
  expect(passed(wish)).toEqual({
    lines: ["merge.moved", "merge.recorded", "merge.moved", "tidied up"],
    signal: null,
  });
});
