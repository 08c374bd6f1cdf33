import { afterAll, describe } from "vitest";
import { answering } from "./conformance/answers.ts";
import { ending } from "./conformance/ending.ts";
import { filing } from "./conformance/files.ts";
import { type DriverUnderTest, prepareBench } from "./conformance/fixture.ts";
import { printing } from "./conformance/output.ts";
import { spawning } from "./conformance/programs.ts";
import { reopening } from "./conformance/reopening.ts";
import { surviving } from "./conformance/shell-itself.ts";
import { shells } from "./conformance/shells.ts";
import { stopping } from "./conformance/stopping.ts";
import { describeFiles, openForFiles, sharedForFiles } from "./files/conformance.ts";

export type { DriverUnderTest, InsidePaths } from "./conformance/fixture.ts";

/** What every environment promises, whatever its walls are made of. */
export function describeEnvironment(name: string, subject: DriverUnderTest): void {
  if (subject.opening === "sparing") {
    const files = sharedForFiles(subject);
    afterAll(() => files.close());
    describeFiles(name, files);
  } else describeFiles(name, { open: () => openForFiles(subject) });
  describe(`${name} environment`, () => {
    const bench = prepareBench(subject);
    answering(bench);
    printing(bench);
    surviving(bench);
    stopping(bench);
    filing(bench);
    shells(bench);
    spawning(bench);
    reopening(bench);
    ending(bench);
  });
}
