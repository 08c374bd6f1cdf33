import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { slices } from "../scripts/import-table.ts";
import { readSources, unlistedImports } from "../scripts/imports.ts";
import { readImports } from "../scripts/read-imports.ts";

const table = "(table: scripts/import-table.ts)";

test("every import of the checkout is in the import table", () => {
  expect(unlistedImports(readSources(join(import.meta.dirname, "..")))).toEqual([]);
});

describe("an edge that the table does not list is found", () => {
  const cases: readonly [sentence: string, path: string, source: string, fault: string | undefined][] = [
    [
      "a slice that imports upward",
      "packages/daemon/src/sessions/inbox.ts",
      'import { wake } from "../runner/index.ts";',
      "packages/daemon/src/sessions/inbox.ts:1 imports ../runner/index.ts: sessions may import assembly, log, routing, faults, not runner",
    ],
    [
      "a type alone",
      "packages/daemon/src/log/port.ts",
      'import type { Session } from "../sessions/index.ts";',
      "packages/daemon/src/log/port.ts:1 imports ../sessions/index.ts: log may import nothing, not sessions",
    ],
    [
      "a type asked for in place",
      "packages/daemon/src/log/port.ts",
      'type Session = import("../sessions/index.ts").Session;',
      "packages/daemon/src/log/port.ts:1 imports ../sessions/index.ts: log may import nothing, not sessions",
    ],
    [
      "a dynamic import",
      "packages/daemon/src/usage/budget.ts",
      '\nconst { ask } = await import("../questions/index.ts");',
      "packages/daemon/src/usage/budget.ts:2 imports ../questions/index.ts: usage may import assembly, log, routing, not questions",
    ],
    [
      "a re-export",
      "packages/daemon/src/mail/index.ts",
      'export * from "../tasks/index.ts";',
      "packages/daemon/src/mail/index.ts:1 imports ../tasks/index.ts: mail may import log, sessions, not tasks",
    ],
    [
      "a computed import in a package",
      "packages/daemon/src/plugins/load.ts",
      "await import(path);",
      "packages/daemon/src/plugins/load.ts:1 imports a computed module: a package names what it imports, so that the table can be held",
    ],
    [
      "a slice entered beside its door",
      "packages/daemon/src/runner/turn.ts",
      'import { promote } from "../sessions/inbox.ts";',
      "packages/daemon/src/runner/turn.ts:1 imports ../sessions/inbox.ts: sessions is entered only through index.ts, port.ts",
    ],
    [
      "a slice's description, which is for the list of slices",
      "packages/daemon/src/runner/turn.ts",
      'import { sessions } from "../sessions/slice.ts";',
      "packages/daemon/src/runner/turn.ts:1 imports ../sessions/slice.ts: sessions is entered only through index.ts, port.ts",
    ],
    [
      "a driver named by a slice that may import its seam",
      "packages/daemon/src/runner/turn.ts",
      'import { openLog } from "../log/sqlite/index.ts";',
      "packages/daemon/src/runner/turn.ts:1 imports ../log/sqlite/index.ts: the driver log/sqlite is named only by main.ts, runner-main.ts, database-main.ts, index.ts",
    ],
    [
      "a driver named by the door of its own seam",
      "packages/daemon/src/environments/index.ts",
      'export { openJail } from "./jail/index.ts";',
      "packages/daemon/src/environments/index.ts:1 imports ./jail/index.ts: the driver environments/jail is named only by main.ts, runner-main.ts, database-main.ts, index.ts",
    ],
    [
      "a driver named by another driver of the seam",
      "packages/daemon/src/environments/container/open.ts",
      'import { walls } from "../jail/walls.ts";',
      "packages/daemon/src/environments/container/open.ts:1 imports ../jail/walls.ts: the driver environments/jail is named only by main.ts, runner-main.ts, database-main.ts, index.ts",
    ],
    [
      "a driver named by the gateway",
      "packages/daemon/src/gateway/models.ts",
      'import { anthropic } from "../providers/anthropic/index.ts";',
      "packages/daemon/src/gateway/models.ts:1 imports ../providers/anthropic/index.ts: the driver providers/anthropic is named only by main.ts, runner-main.ts, database-main.ts, index.ts",
    ],
    [
      "the inside of a driver entered by the wiring",
      "packages/daemon/src/main.ts",
      'import { migrate } from "./log/sqlite/migrations.ts";',
      "packages/daemon/src/main.ts:1 imports ./log/sqlite/migrations.ts: log is entered only through index.ts, port.ts",
    ],
    [
      "the test kit used by production code",
      "packages/daemon/src/gateway/serve.ts",
      'import { fakeClock } from "../testing/index.ts";',
      "packages/daemon/src/gateway/serve.ts:1 imports ../testing/index.ts: testing/ is for tests only",
    ],
    [
      "a driver's suite used by production code",
      "packages/daemon/src/log/index.ts",
      'export { describeLog } from "./conformance.ts";',
      "packages/daemon/src/log/index.ts:1 imports ./conformance.ts: conformance.ts is for tests only",
    ],
    [
      "a program imported",
      "packages/daemon/src/gateway/serve.ts",
      'import { start } from "../main.ts";',
      "packages/daemon/src/gateway/serve.ts:1 imports ../main.ts: main.ts is for tests only",
    ],
    [
      "a program imported by what is put together for it",
      "packages/daemon/src/daemon.ts",
      'import { start } from "./main.ts";',
      "packages/daemon/src/daemon.ts:1 imports ./main.ts: main.ts is for tests only",
    ],
    [
      "what puts the slices together, imported by a slice",
      "packages/daemon/src/gateway/serve.ts",
      'import { startDaemon } from "../daemon.ts";',
      "packages/daemon/src/gateway/serve.ts:1 imports ../daemon.ts: daemon.ts is for the programs and tests only",
    ],
    [
      "a driver named where the slices are put together",
      "packages/daemon/src/daemon.ts",
      'import { openSqliteLog } from "./log/sqlite/index.ts";',
      "packages/daemon/src/daemon.ts:1 imports ./log/sqlite/index.ts: the driver log/sqlite is named only by main.ts, runner-main.ts, database-main.ts, index.ts",
    ],
    [
      "a driver's test support used by the driver",
      "packages/daemon/src/log/sqlite/open.ts",
      'import { driver } from "./testing/driver.ts";',
      "packages/daemon/src/log/sqlite/open.ts:1 imports ./testing/driver.ts: testing/driver.ts is for tests only",
    ],
    [
      "a file of a driver's suite used by production code",
      "packages/daemon/src/log/live.ts",
      'import { inputs } from "./conformance/fixture.ts";',
      "packages/daemon/src/log/live.ts:1 imports ./conformance/fixture.ts: conformance/fixture.ts is for tests only",
    ],
    [
      "the runner reaching past the agent for its tools",
      "packages/daemon/src/runner/desk.ts",
      'import type { Surroundings } from "../tools/index.ts";',
      `packages/daemon/src/runner/desk.ts:1 imports ../tools/index.ts: runner may import ${[slices["runner"]].flat().join(", ")}, not tools`,
    ],
    [
      "a file of the daemon in no slice",
      "packages/daemon/src/log/index.ts",
      'import { clock } from "../clock.ts";',
      "packages/daemon/src/log/index.ts:1 imports ../clock.ts: packages/daemon/src/clock.ts is in no slice of the daemon",
    ],
    [
      "a slice that the table does not know",
      "packages/daemon/src/shared/text.ts",
      'import type { Log } from "../log/port.ts";',
      "packages/daemon/src/shared/text.ts:1 imports ../log/port.ts: shared is no slice in the table",
    ],
    [
      "a slice that the table does not know, imported by the gateway",
      "packages/daemon/src/gateway/serve.ts",
      'import { text } from "../shared/index.ts";',
      "packages/daemon/src/gateway/serve.ts:1 imports ../shared/index.ts: shared is no slice in the table",
    ],
    [
      "the daemon imported by the CLI",
      "packages/cli/src/serve.ts",
      'import { startDaemon } from "@corral/daemon";',
      "packages/cli/src/serve.ts:1 imports @corral/daemon: cli may import client, client/client, client/transcript, protocol, protocol/error, protocol/event-types, protocol/new-id, protocol/state-fold, protocol/trace, protocol/words, not daemon",
    ],
    [
      "the daemon's test kit imported by the CLI",
      "packages/cli/src/serve.ts",
      'import { scriptModel } from "@corral/daemon/testing";',
      "packages/cli/src/serve.ts:1 imports @corral/daemon/testing: cli may import client, client/client, client/transcript, protocol, protocol/error, protocol/event-types, protocol/new-id, protocol/state-fold, protocol/trace, protocol/words, not daemon/testing",
    ],
    [
      "a package entered by path",
      "packages/cli/src/serve.ts",
      'import { start } from "../../daemon/src/main.ts";',
      "packages/cli/src/serve.ts:1 imports ../../daemon/src/main.ts: a package is entered by its name, not by path",
    ],
    [
      "a library in the protocol",
      "packages/protocol/src/id.ts",
      'import { randomBytes } from "node:crypto";',
      "packages/protocol/src/id.ts:1 imports node:crypto: protocol may import from outside only zod",
    ],
    [
      "a package in a script",
      "scripts/build.ts",
      'import { version } from "@corral/protocol";',
      "scripts/build.ts:1 imports @corral/protocol: scripts may import nothing, not protocol",
    ],
  ];
  test.each(cases)("%s", (_, path, source, fault) => {
    expect(unlistedImports(new Map([[path, source]]))).toEqual([`${fault} ${table}`]);
  });
});

describe("an edge that the table lists passes", () => {
  const cases: readonly [sentence: string, path: string, source: string][] = [
    ["a slice's door", "packages/daemon/src/runner/turn.ts", 'import { promote } from "../sessions/index.ts";'],
    ["a seam's port", "packages/daemon/src/sessions/inbox.ts", 'import type { Log } from "../log/port.ts";'],
    ["the protocol", "packages/daemon/src/log/port.ts", 'import type { SessionId } from "@corral/protocol";'],
    ["a driver's own seam", "packages/daemon/src/log/sqlite/open.ts", 'import type { Log } from "../port.ts";'],
    ["a driver's own files", "packages/daemon/src/log/sqlite/index.ts", 'export { open } from "./open.ts";'],
    [
      "a driver in the wiring",
      "packages/daemon/src/main.ts",
      'import { openJail } from "./environments/jail/index.ts";',
    ],
    [
      "the slices put together, in a program",
      "packages/daemon/src/main.ts",
      'import { startDaemon } from "./daemon.ts";',
    ],
    [
      "a slice where the slices are put together",
      "packages/daemon/src/daemon.ts",
      'import { openHome } from "./home/index.ts";',
    ],
    [
      "the history that an agent continues",
      "packages/daemon/src/kinds/loop/request.ts",
      'import type { Turn } from "../../sessions/index.ts";',
    ],
    ["any slice in the gateway", "packages/daemon/src/gateway/tasks.ts", 'import { tasks } from "../tasks/index.ts";'],
    ["the test kit in a test", "packages/daemon/src/mail/send.test.ts", 'import { start } from "../testing/index.ts";'],
    [
      "a real driver in a test",
      "packages/daemon/src/usage/sum.test.ts",
      'import { open } from "../log/sqlite/index.ts";',
    ],
    [
      "what another slice has for tests, in a test",
      "packages/daemon/src/questions/routes.test.ts",
      'import { openTestGateway } from "../gateway/testing.ts";',
    ],
    [
      "the suite in a driver's test",
      "packages/daemon/src/log/sqlite/log.test.ts",
      'import { describeLog } from "../conformance.ts";',
    ],
    [
      "everything in the test kit",
      "packages/daemon/src/testing/daemon.ts",
      'import { open } from "../log/sqlite/index.ts";',
    ],
    ["the test kit in a story", "tests/prompt.test.ts", 'import { scriptModel } from "@corral/daemon/testing";'],
    [
      "the test kit in the SDK's tests",
      "packages/client/src/events.test.ts",
      'import { start } from "@corral/daemon/testing";',
    ],
    [
      "the suite in a driver's test support",
      "packages/daemon/src/log/sqlite/testing/driver.ts",
      'import type { LogDriver } from "../../conformance/fixture.ts";',
    ],
    ["a computed import in a suite", "packages/daemon/src/log/conformance/writer.ts", "await import(module);"],
    ["a computed import outside of packages", "bench/run.ts", "await import(`./${name}.ts`);"],
  ];
  test.each(cases)("%s", (_, path, source) => {
    expect(unlistedImports(new Map([[path, source]]))).toEqual([]);
  });
});

describe("imports are read from tokens", () => {
  const cases: readonly [source: string, specifiers: readonly (string | undefined)[]][] = [
    ['import "./a.ts";', ["./a.ts"]],
    ['import a, { type B, c as d } from "./a.ts";', ["./a.ts"]],
    ['import * as a\n  from\n  "./a.ts"\nimport b from "./b.ts"', ["./a.ts", "./b.ts"]],
    ["import a from './a.ts' with { type: 'json' };", ["./a.ts"]],
    ['export { default as a, "odd name" as b } from "./a.ts";', ["./a.ts"]],
    ['export type { A } from "./a.ts"; export type * as B from "./b.ts";', ["./a.ts", "./b.ts"]],
    ["const a = await import(`./a.ts`);", ["./a.ts"]],
    ["const a = await import(`./${name}.ts`);", [undefined]],
    ['const a = await import("./a" + ".ts");', [undefined]],
    ['const a = require("./a.ts");', ["./a.ts"]],
    ['const t = `${await import("./a.ts")} import "./b.ts" ${`${1}`}`; import "./c.ts";', ["./a.ts", "./c.ts"]],
    ['// import "./a.ts"\n/* import "./b.ts" */ const s = \'import "./c.ts"\';', []],
    ['const r = /["\'`]/.test(x) ? 1 / 2 : y / 3; import "./a.ts";', ["./a.ts"]],
    ['const url = "//" + host; const half = (a + b) / 2; import "./a.ts"; // "', ["./a.ts"]],
    ['export const from = 1; const a = { from: "./a.ts" };', []],
    ['export function load() { return loader.import("./a.ts"); }', []],
    ["console.log(import.meta.dirname);", []],
    ["export type Row = { readonly from: string };\nexport { a };\nconst b = 'x';", []],
  ];
  test.each(cases)("%s", (source, specifiers) => {
    expect(readImports(source).map((found) => found.specifier)).toEqual(specifiers);
  });
});
