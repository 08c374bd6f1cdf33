import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * What takes longest is begun first, so that at the end no processor is left waiting for one file. A checkout that is new knows nothing of
 * earlier runs, and how long a file is says little: these are told, each taking longer than those below it.
 */
const slow = [
  "tests/care.test.ts",
  "tests/recovery.test.ts",
  "tests/workspaces.test.ts",
  "tests/questions.test.ts",
  "tests/shell.test.ts",
  "tests/hundred.test.ts",
  "tests/crash.test.ts",
  "tests/dashboard.test.ts",
  "tests/sdk.test.ts",
  "tests/torture.test.ts",
  "tests/network.test.ts",
  "tests/serve.test.ts",
  "tests/providers.test.ts",
  "tests/sessions.test.ts",
  "tests/demo.test.ts",
  "packages/daemon/src/environments/jail/ordinary-user.test.ts",
  "packages/daemon/src/environments/jail/jail.conformance.test.ts",
  "packages/daemon/src/runner/process/host.test.ts",
  "packages/daemon/src/environments/container/container.conformance.test.ts",
  "packages/daemon/src/workspaces/workspaces.test.ts",
  "packages/daemon/src/environments/jail/other-shells.conformance.test.ts",
  "packages/daemon/src/environments/local/local.conformance.test.ts",
  "packages/daemon/src/workspaces/bring-back.test.ts",
  "packages/daemon/src/environments/jail/left-alone.test.ts",
  "packages/daemon/src/environments/jail/driver.test.ts",
  "packages/daemon/src/workspaces/snapshots/keeping.test.ts",
  "packages/daemon/src/environments/container/container.test.ts",
  "packages/daemon/src/environments/jail/limits.test.ts",
  "packages/daemon/src/environments/files/files.test.ts",
  "packages/daemon/src/workspaces/snapshots/snapshots.test.ts",
  "packages/daemon/src/workspaces/ordinary-user.test.ts",
  "packages/daemon/src/workspaces/prepare.test.ts",
];

/** In this order, each without a break: a process that files share goes on as long as the next one is of the same project. */
const projects = ["stories", "unit-alone", "unit"];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
    const others = await super.sort(files);
    return others.toSorted((a, b) => rankOf(a) - rankOf(b) || placeOf(a) - placeOf(b));
  }
}

function rankOf({ project }: TestSpecification): number {
  return projects.indexOf(project.name);
}

function placeOf({ project, moduleId }: TestSpecification): number {
  const place = slow.indexOf(relative(project.config.root, moduleId));
  return place === -1 ? slow.length : place;
}
