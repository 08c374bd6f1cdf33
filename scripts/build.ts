import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
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

/** Bundles the programs into `dist/`. Running programs never see half a file: each is put in place whole. */
export async function build(dist: string = join(root, "dist")): Promise<Built> {
  const names = Object.keys(programs);
  const present = names.filter((name) => existsSync(join(root, programs[name] ?? "")));
  const fresh = `${dist}.${process.pid}`;
  await bundlePrograms(present, fresh);
  await mkdir(dist, { recursive: true });
  const old = (await readdir(dist)).filter((file) => file.endsWith(".js"));
  const written = await readdir(fresh);
  for (const file of written) await rename(join(fresh, file), join(dist, file));
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
