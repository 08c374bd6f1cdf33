import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path/posix";
import {
  description,
  doors,
  drivers,
  externals,
  packages,
  parts,
  programs,
  rootFolders,
  slices,
  testFiles,
  testFolders,
  testKit,
} from "./import-table.ts";
import { readImports } from "./read-imports.ts";

/** Sources by their path from the root, with "/" between folders. */
export type Sources = ReadonlyMap<string, string>;

/** Every import that the table does not list, one sentence each. */
export function unlistedImports(sources: Sources): readonly string[] {
  return [...sources].flatMap(([path, source]) =>
    readImports(source).flatMap(({ specifier, line }) => {
      const from = placeOf(path);
      const fault = specifier === undefined ? computed(from) : faultOf(from, targetOf(path, specifier));
      return fault === undefined ? [] : [`${path}:${line} imports ${specifier ?? "a computed module"}: ${fault}`];
    }),
  );
}

/** The sources of the checkout. */
export function readSources(root: string): Sources {
  const paths = globSync("{packages/*/src,tests,bench,examples,scripts}/**/*.{ts,tsx}", { cwd: root });
  return new Map(paths.toSorted().map((path) => [path.replaceAll("\\", "/"), readFileSync(join(root, path), "utf8")]));
}

/** Where a file stands, in the words of the table. */
type Place =
  | { readonly in: "root"; readonly folder: string }
  | { readonly in: "package"; readonly package: string; readonly path: string }
  | { readonly in: "wiring"; readonly path: string; readonly file: string }
  | { readonly in: "testing"; readonly path: string }
  | {
      readonly in: "slice";
      readonly slice: string;
      readonly driver: string | undefined;
      /** The path below the driver's folder, or the slice's. */
      readonly inside: string;
      readonly isTest: boolean;
    }
  | { readonly in: "nowhere"; readonly path: string };

type Target =
  | { readonly by: "path"; readonly place: Place }
  | { readonly by: "package"; readonly name: string }
  | { readonly by: "outside"; readonly name: string };

function placeOf(path: string): Place {
  const [top = "", name = "", src, ...rest] = path.split("/");
  if (top !== "packages") return { in: "root", folder: top };
  if (name !== "daemon") return { in: "package", package: name, path };
  const [slice = "", ...inside] = rest;
  if (src !== "src") return { in: "nowhere", path };
  if (slice === "testing" && inside.length > 0) return { in: "testing", path };
  return inside.length === 0 ? aboveSlices(path) : inSlice(slice, inside);
}

function aboveSlices(path: string): Place {
  const file = testedFile(basename(path));
  return [...programs, ...parts].includes(file) ? { in: "wiring", path, file } : { in: "nowhere", path };
}

function inSlice(slice: string, inside: readonly string[]): Place {
  const seam = drivers[slice] ?? [];
  const [folder = "", ...below] = inside;
  const isDriver = below.length > 0 && (seam === "every folder" || seam.includes(folder));
  return {
    in: "slice",
    slice,
    driver: isDriver ? folder : undefined,
    inside: (isDriver ? below : inside).join("/"),
    isTest: isTestPath(inside.join("/")),
  };
}

/** Tests, suites for drivers, and what tests share. */
function isTestPath(path: string): boolean {
  const name = basename(path);
  const folders = dirname(path).split("/");
  return /\.test\.tsx?$/.test(name) || testFiles.includes(name) || folders.some((each) => testFolders.includes(each));
}

function testedFile(name: string): string {
  return name.replace(/\.test\.ts$/, ".ts");
}

function targetOf(path: string, specifier: string): Target {
  if (specifier.startsWith(".")) return { by: "path", place: placeOf(normalize(join(dirname(path), specifier))) };
  if (specifier.startsWith("@corral/")) return { by: "package", name: specifier.slice("@corral/".length) };
  return { by: "outside", name: specifier };
}

const inTable = "(table: scripts/import-table.ts)";

function computed(from: Place): string | undefined {
  if (from.in === "root" || isTest(from)) return undefined;
  return `a package names what it imports, so that the table can be held ${inTable}`;
}

function faultOf(from: Place, target: Target): string | undefined {
  switch (target.by) {
    case "outside":
      return outsideFault(from, target.name);
    case "package":
      return packageFault(from, target.name);
    case "path":
      return pathFault(from, target.place);
  }
}

function outsideFault(from: Place, name: string): string | undefined {
  if (from.in !== "package" || (isTest(from) && (name === "vitest" || name.startsWith("node:")))) return undefined;
  const allowed = externals[from.package];
  if (allowed === undefined || allowed.includes(name)) return undefined;
  return `${from.package} may import from outside only ${list(allowed)} ${inTable}`;
}

function packageFault(from: Place, name: string): string | undefined {
  const [owner, allowed] = rowOf(from);
  if (allowed.includes(name)) return undefined;
  return `${owner} may import ${list(allowed)}, not ${name} ${inTable}`;
}

function rowOf(from: Place): readonly [owner: string, allowed: readonly string[]] {
  if (from.in === "root") return [from.folder, rootFolders[from.folder] ?? []];
  const owner = from.in === "package" ? from.package : "daemon";
  const allowed = packages[owner] ?? [];
  return [owner, from.in === "package" && isTest(from) ? [...allowed, testKit] : allowed];
}

function pathFault(from: Place, to: Place): string | undefined {
  if (from.in === "root" && to.in === "root") {
    return from.folder === to.folder ? undefined : packageFault(from, to.folder);
  }
  if (packageOf(from) !== packageOf(to)) return `a package is entered by its name, not by path ${inTable}`;
  if (from.in === "package" || from.in === "root") return undefined;
  return daemonFault(from, to);
}

function packageOf(place: Place): string {
  if (place.in === "root") return "";
  return place.in === "package" ? place.package : "daemon";
}

function daemonFault(from: Place, to: Place): string | undefined {
  if (from.in === "nowhere") return `${from.path} is in no slice of the daemon ${inTable}`;
  if (to.in === "nowhere") return `${to.path} is in no slice of the daemon ${inTable}`;
  if (isTest(from) && to.in === "testing") return undefined;
  if (to.in === "testing") return `testing/ is for tests only ${inTable}`;
  if (to.in === "wiring") {
    return isTest(from) || (from.in === "wiring" && parts.includes(to.file))
      ? undefined
      : `${to.file} is for ${parts.includes(to.file) ? "the programs and " : ""}tests only ${inTable}`;
  }
  if (to.in !== "slice") return undefined;
  return sliceFault(from, to);
}

type SlicePlace = Extract<Place, { in: "slice" }>;

function sliceFault(from: Place, to: SlicePlace): string | undefined {
  const own = from.in === "slice" && from.slice === to.slice;
  if (to.isTest && !isTest(from)) return `${to.inside} is for tests only ${inTable}`;
  if (own && (to.driver === undefined || to.driver === from.driver)) return undefined;
  if (!own && from.in === "slice") {
    const fault = rowFault(from, to);
    if (fault !== undefined) return fault;
  }
  if (to.driver !== undefined && !mayNameDrivers(from)) {
    return `the driver ${to.slice}/${to.driver} is named only by ${list(programs)} ${inTable}`;
  }
  return own || isDoor(to) || (to.inside === description && (from.in === "wiring" || isTest(from)))
    ? undefined
    : `${to.slice} is entered only through ${list(doors)} ${inTable}`;
}

/** A slice's tests may use any driver, and what other slices have for tests, for they run on real parts. */
function rowFault(from: SlicePlace, to: SlicePlace): string | undefined {
  const allowed = slices[from.slice];
  if (allowed === undefined) return `${from.slice} is no slice in the table ${inTable}`;
  if (slices[to.slice] === undefined) return `${to.slice} is no slice in the table ${inTable}`;
  if (allowed === "every slice" || allowed.includes(to.slice)) return undefined;
  if (from.isTest && (to.driver !== undefined || to.isTest)) return undefined;
  return `${from.slice} may import ${list(allowed)}, not ${to.slice} ${inTable}`;
}

function isDoor(to: SlicePlace): boolean {
  return doors.includes(to.inside) || to.isTest;
}

function mayNameDrivers(from: Place): boolean {
  return isTest(from) || (from.in === "wiring" && programs.includes(from.file));
}

function isTest(place: Place): boolean {
  if (place.in === "slice") return place.isTest;
  return place.in === "testing" || ((place.in === "wiring" || place.in === "package") && isTestPath(place.path));
}

function list(names: readonly string[]): string {
  return names.length === 0 ? "nothing" : names.join(", ");
}

if (import.meta.main) {
  const faults = unlistedImports(readSources(join(import.meta.dirname, "..")));
  for (const fault of faults) console.log(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
