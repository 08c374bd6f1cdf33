import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { build as bundle } from "esbuild";

const root = join(import.meta.dirname, "..");

/** What is shipped: one file for each program, named after it. */
const programs: Readonly<Record<string, string>> = {
  cli: "packages/cli/src/main.ts",
  daemon: "packages/daemon/src/main.ts",
  runner: "packages/daemon/src/runner-main.ts",
};

export interface Built {
  readonly written: readonly string[];
  /** Programs whose entry is not in this checkout. */
  readonly absent: readonly string[];
}

/**
 * Bundles the programs and the dashboard into `dist/`. Running programs never see half a file: each is put in place
 * whole, pages after what they name.
 */
export async function build(dist: string = join(root, "dist")): Promise<Built> {
  const names = Object.keys(programs);
  const present = names.filter((name) => existsSync(join(root, programs[name] ?? "")));
  const fresh = `${dist}.${process.pid}`;
  await Promise.all([bundlePrograms(present, fresh), bundleDashboard(join(fresh, "dashboard"))]);
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

/** Each on its own: what two programs have in common is smaller in each than what both together need. */
async function bundlePrograms(names: readonly string[], outdir: string): Promise<void> {
  await Promise.all(names.map((name) => bundleProgram(name, outdir)));
}

async function bundleProgram(name: string, outdir: string): Promise<void> {
  await bundle({
    absWorkingDir: root,
    entryPoints: [{ in: programs[name] ?? "", out: name }],
    outdir,
    bundle: true,
    format: "esm",
    // What a program loads only when it is asked for is a piece of its own.
    splitting: true,
    chunkNames: `${name}-[hash]`,
    platform: "node",
    target: "node24",
    minifySyntax: true,
    legalComments: "none",
    // What Node loads of it asks for its parts in a way that a bundler cannot follow.
    alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
    logLevel: "warning",
    banner: { js: commonJsGlobals },
    define: { CORRAL_BUNDLED: "true", CORRAL_VERSION: JSON.stringify(version()) },
  });
}

/** In a process of its own, beside the others: Vite asks the environment what to build for, and it is the same for all. */
async function bundleDashboard(outDir: string): Promise<void> {
  const vite = join(root, "node_modules/vite/bin/vite.js");
  const config = join(root, "packages/dashboard/vite.config.ts");
  const words = ["build", "--config", config, "--outDir", outDir, "--logLevel", "warn"];
  const env = { ...process.env, NODE_ENV: "production" };
  await promisify(execFile)(process.execPath, [vite, ...words], { cwd: root, env });
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

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
  if (typeof manifest === "object" && manifest !== null && "version" in manifest) return String(manifest.version);
  throw new Error("packages/cli/package.json has no version");
}

if (import.meta.main) {
  const { written, absent } = await build();
  console.log(
    `dist: ${written.join(", ") || "nothing"}${absent.length > 0 ? `; not there yet: ${absent.join(", ")}` : ""}`,
  );
}
