import { describe } from "vitest";
import { finding } from "./conformance/finding.ts";
import { type FilesUnderTest, prepareFixture } from "./conformance/fixture.ts";
import { reading } from "./conformance/reading.ts";
import { swapped } from "./conformance/swapping.ts";
import { watching } from "./conformance/watching.ts";
import { writing } from "./conformance/writing.ts";

export type { FilesUnderTest } from "./conformance/fixture.ts";
export { openForFiles, sharedForFiles } from "./conformance/rooms.ts";
export { race } from "./conformance/swapping.ts";

/** What files promise in every environment, whatever tools it has. */
export function describeFiles(name: string, subject: FilesUnderTest): void {
  describe(`files in ${name}`, () => {
    const open = prepareFixture(subject);
    reading(open);
    writing(open);
    finding(open);
    watching(open);
    swapped(open);
  });
}
