import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { build as bundle, type BuildResult, transform } from "esbuild";
import { clientTypes } from "./client-types.ts";
import { thirdPartyNotices } from "./notices.ts";

const root = join(import.meta.dirname, "..");

/** What is shipped: one file for each program, named after it, and its pieces. */
const programs: Readonly<Record<string, string>> = {
  cli: "packages/cli/src/bin.ts",
  daemon: "packages/daemon/src/main.ts",
  runner: "packages/daemon/src/runner-main.ts",
  database: "packages/daemon/src/database-main.ts",
  // Not programs but libraries, for the programs of others.
  shell: "packages/daemon/src/index.ts",
  client: "packages/client/src/index.ts",
};

export interface Built {
  readonly written: readonly string[];
  /** Programs whose entry is not in this checkout. */
  readonly absent: readonly string[];
}

/**
 * Makes `dist/`, which is the package as it is published: `npm pack ./dist` gives the tarball. Running programs never
 * see half a file: each is put in place whole, pages after what they name.
 */
export async function build(dist: string = join(root, "dist"), version: string = ownVersion()): Promise<Built> {
  const names = Object.keys(programs);
  const present = names.filter((name) => existsSync(join(root, programs[name] ?? "")));
  const fresh = `${dist}.${process.pid}`;
  const [types, ...inputs] = await Promise.all([
    clientTypes(),
    bundlePrograms(present, fresh, version),
    bundleDashboard(join(fresh, "dashboard")),
  ]);
  await writeFile(join(fresh, "client.d.ts"), types);
  await writePackage(fresh, version, inputs.flat());
  const old = await filesIn(dist);
  const written = (await filesIn(fresh)).toSorted((a, b) => Number(a.endsWith(".html")) - Number(b.endsWith(".html")));
  for (const file of written) {
    await mkdir(dirname(join(dist, file)), { recursive: true });
    await rename(join(fresh, file), join(dist, file));
  }
  for (const file of old.filter((each) => !written.includes(each))) await rm(join(dist, file), { force: true });
  await rm(fresh, { recursive: true, force: true });
  return { written, absent: names.filter((name) => !present.includes(name)) };
}

/** What a package has besides its programs. Everything is bundled, so it depends on nothing. */
async function writePackage(folder: string, version: string, inputs: readonly string[]): Promise<void> {
  const manifest = {
    name: "corral",
    version,
    description: "Coding agents on your own machine, each in a jail, everything in a durable log",
    license: "Apache-2.0",
    type: "module",
    bin: { corral: "cli.js" },
    exports: {
      "./client": { types: "./client.d.ts", default: "./client.js" },
      "./shell": "./shell.js",
      "./package.json": "./package.json",
    },
    engines: { node: ">=24.15" },
  };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  await writeFile(join(folder, "THIRD-PARTY-LICENSES.txt"), thirdPartyNotices(root, inputs));
  for (const file of ["README.md", "MANUAL.md", "LICENSE"]) await copyFile(join(root, file), join(folder, file));
  await copyFile(join(root, "packages/client/README.md"), join(folder, "CLIENT.md"));
  await chmod(join(folder, "cli.js"), 0o755);
}

/**
 * Each on its own: what two programs have in common is smaller in each than what both together need. Returns the files
 * that went in.
 */
async function bundlePrograms(names: readonly string[], outdir: string, version: string): Promise<readonly string[]> {
  return (await Promise.all(names.map((name) => bundleProgram(name, outdir, version)))).flat();
}

async function bundleProgram(name: string, outdir: string, version: string): Promise<readonly string[]> {
  const entry = programs[name] ?? "";
  const how = bundling(version);
  if (name === "cli") return bundleCommandLine(entry, outdir, how);
  if (name === "client") return bundleClient(entry, join(outdir, "client.js"), how);
  const pieces = inPieces(name, { in: entry, out: name }, outdir);
  return inputsOf(await bundle({ ...how, ...pieces, banner: { js: commonJsGlobals } }));
}

/** For browsers, too: what only Node has would not be found. */
async function bundleClient(
  entry: string,
  outfile: string,
  how: ReturnType<typeof bundling>,
): Promise<readonly string[]> {
  const everywhere = { platform: "browser", target: "es2024", format: "esm" } as const;
  return inputsOf(await bundle({ ...how, ...everywhere, entryPoints: [entry], outfile }));
}

/** What a program loads only when it is asked for is a piece of its own. */
function inPieces(name: string, entry: { readonly in: string; readonly out: string }, outdir: string) {
  const format = "esm" as const;
  return { entryPoints: [entry], outdir, format, splitting: true, chunkNames: `${name}-[hash]` };
}

function bundling(version: string) {
  return {
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node24",
    minifySyntax: true,
    legalComments: "none",
    // What Node loads of it asks for its parts in a way that a bundler cannot follow.
    alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
    logLevel: "warning",
    metafile: true,
    define: { CORRAL_BUNDLED: "true", CORRAL_VERSION: JSON.stringify(version) },
  } as const;
}

/**
 * It starts often, so its pieces are CommonJS: modules take Node some milliseconds more to load, many more on a busy machine, for each is read
 * in turns with other threads, and what they import of Node's own comes with all that is lazy in it. Only its first file, which says which
 * Node is needed, is a module.
 */
async function bundleCommandLine(
  entry: string,
  outdir: string,
  how: ReturnType<typeof bundling>,
): Promise<readonly string[]> {
  const main = { in: join(dirname(entry), "main.ts"), out: "cli-main" };
  const [first, pieces] = await Promise.all([
    bundle({ ...how, entryPoints: [entry], format: "esm", outfile: join(outdir, "cli.js") }),
    bundle({ ...how, ...inPieces("cli", main, outdir), outExtension: { ".js": ".cjs" }, write: false }),
  ]);
  await Promise.all(
    pieces.outputFiles.map(async ({ path, text }) => writeFile(path, (await transform(text, asCommonJs(text))).code)),
  );
  return [...inputsOf(first), ...inputsOf(pieces)];
}

function asCommonJs(text: string) {
  const here = 'const corralHere = require("node:url").pathToFileURL(__filename).href;';
  return {
    format: "cjs",
    platform: "node",
    target: "node24",
    // So that these are required, too.
    supported: { "dynamic-import": false },
    define: { "import.meta.url": "corralHere" },
    banner: text.includes("import.meta.url") ? here : "",
  } as const;
}

function inputsOf({ metafile }: BuildResult): readonly string[] {
  return Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) => Object.keys(inputs));
}

/**
 * In a process of its own, beside the others: Vite asks the environment what to build for, and it is the same for all.
 * Returns the files that went in.
 */
async function bundleDashboard(outDir: string): Promise<readonly string[]> {
  const vite = join(root, "node_modules/vite/bin/vite.js");
  const config = join(root, "packages/dashboard/vite.config.ts");
  const words = ["build", "--config", config, "--outDir", outDir, "--logLevel", "warn"];
  const env = { ...process.env, NODE_ENV: "production" };
  await promisify(execFile)(process.execPath, [vite, ...words], { cwd: root, env });
  const list = join(outDir, "bundled-modules.json");
  const modules = JSON.parse(await readFile(list, "utf8")) as readonly string[];
  await rm(list);
  return modules.map((path) => relative(root, path));
}

/** Paths of all files below the folder, which may be missing. */
async function filesIn(folder: string): Promise<readonly string[]> {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}

/** What CommonJS dependencies expect to find, which a bundle in ESM does not have by itself. */
const commonJsGlobals = [
  'import { createRequire as corralCreateRequire } from "node:module";',
  "const require = corralCreateRequire(import.meta.url);",
  "const __filename = import.meta.filename;",
  "const __dirname = import.meta.dirname;",
].join("\n");

function ownVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
  if (typeof manifest === "object" && manifest !== null && "version" in manifest) return String(manifest.version);
  throw new Error("packages/cli/package.json has no version");
}

if (import.meta.main) {
  const { written, absent } = await build();
  console.log(
    `dist: ${written.length} files, ${written.filter((file) => !/-[^/]*\.c?js$/.test(file)).join(", ")}${absent.length > 0 ? `; not there yet: ${absent.join(", ")}` : ""}`,
  );
}
