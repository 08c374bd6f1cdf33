import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What the licences of bundled packages want to be told, as one text. `inputs` are paths of files in the bundles. */
export function thirdPartyNotices(root: string, inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((path) => packageFolder(path) ?? []));
  const notices = [...folders]
    .map((folder) => noticeOf(join(root, folder)))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const head = "Corral contains the following packages, each under its own licence.\n";
  return [head, ...notices.map(({ name, text }) => `${"-".repeat(80)}\n${name}\n\n${text.trim()}\n`)].join("\n");
}

/** The package's folder that a bundled file is from; undefined for Corral's own files. */
function packageFolder(path: string): string | undefined {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
}

function noticeOf(folder: string): { readonly name: string; readonly text: string } {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const { name, version, license } = manifest;
  if (license === undefined) throw new Error(`${name} does not say under which licence it is`);
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
    .toSorted()
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  const text = [`Licence: ${license}`, ...(texts.length === 0 ? [`Author: ${authorOf(manifest)}`] : texts)].join(
    "\n\n",
  );
  return { name: `${name} ${version}`, text };
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name?: string };
}

function authorOf({ author, name }: Manifest): string {
  return (typeof author === "string" ? author : author?.name) ?? `the authors of ${name}`;
}
