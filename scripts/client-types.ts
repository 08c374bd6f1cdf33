import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { format, type FormatConfig } from "oxfmt";

const root = join(import.meta.dirname, "..");

/** What the SDK is made of, but for schemas: declarations of these are taken over as they are. */
const sources = [
  ...["new-id", "error", "lift", "event-types"].map((name) => `packages/protocol/src/${name}.ts`),
  ...["transport", "socket", "follow", "command", "content", "terminal", "methods", "client"].map(
    (name) => `packages/client/src/${name}.ts`,
  ),
];

/**
 * The types of `corral/client` in one file that needs no other. What the protocol's schemas and its table of routes stand for is written
 * out, so that nobody needs zod to understand them; the SDK's own declarations follow as they are.
 */
export async function clientTypes(): Promise<string> {
  const protocol = await exportsOf("packages/protocol/src/index.ts");
  const sdk = await exportsOf("packages/client/src/index.ts");
  const own = (await Promise.all(sources.map((path) => readFile(join(root, path), "utf8")))).join("\n");
  const schemas = protocol.types.filter((name) => !isDeclared(name, own) && !isGeneric.has(name));
  const { wire, declarations } = await declarationsWith(wireSource(schemas));
  const types = [...sdk.types, ...protocol.types.filter((name) => !isGeneric.has(name))];
  const all = [...blocksOf([named(wire), derived, ...declarations].join("\n"))];
  const needed = reached(all, [...sdk.values, ...types]);
  const source = [
    ...all.filter(({ name }) => needed.has(name)).map(({ text }) => text),
    `export { ${sdk.values.join(", ")} };`,
    `export type { ${[...new Set(types)].toSorted().join(", ")} };`,
  ].join("\n");
  return formatted(source);
}

/** Types that are made for others to be made of them; what they come to is written out. */
const isGeneric: ReadonlySet<string> = new Set(["EventData", "StoredEventOf", "EndOf", "EventAbout"]);

interface Exports {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

async function exportsOf(path: string): Promise<Exports> {
  const source = await readFile(join(root, path), "utf8");
  const names = [...source.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, isType, list = ""]) =>
    list
      .split(",")
      .map((each) => each.trim())
      .filter((each) => each !== "")
      .map((each) => ({ name: each.replace(/^type /, ""), isType: isType !== undefined || each.startsWith("type ") })),
  );
  return {
    values: names.filter(({ isType }) => !isType).map(({ name }) => name),
    types: names.filter(({ isType }) => isType).map(({ name }) => name),
  };
}

function isDeclared(name: string, source: string): boolean {
  return new RegExp(`^export (?:type|interface|class) ${name}\\b`, "m").test(source);
}

/** A program whose declarations tell what each type comes to: what is inferred is written out. */
function wireSource(names: readonly string[]): string {
  const of = (what: string) => `Told<{ [N in RouteName]: Told<${what}> }>`;
  const tables = {
    Routes: of('{ [K in keyof Table[N] & ("route" | "as" | "unwrap")]: Table[N][K] }'),
    Answers: of("AnswerOf<N>"),
    Bodies: of("BodyOf<N>"),
    Queries: of("QueryOf<N>"),
    Params: of("ParamsOf<N>"),
  };
  return `import type * as protocol from "@corral/protocol";
import type { AnswerOf, BodyOf, ParamsOf, QueryOf, RouteName, Routes as Table } from "@corral/protocol/routes";
type Told<T> = T extends (...given: never[]) => unknown ? T : T extends object ? { [K in keyof T]: T[K] } : T;
declare function told<T>(): Told<T>;
${names.map((name) => `export const ${name} = told<protocol.${name}>();`).join("\n")}
${Object.entries(tables)
  .map(([name, type]) => `export const ${name} = told<${type}>();`)
  .join("\n")}
`;
}

/** How the types of the table derive, from what was written out. */
const derived = `type RouteName = keyof Routes;
type AnswerOf<N extends RouteName> = Answers[N];
type BodyOf<N extends RouteName> = Bodies[N];
type QueryOf<N extends RouteName> = Queries[N];
type ParamsOf<N extends RouteName> = Params[N];`;

async function declarationsWith(
  source: string,
): Promise<{ readonly wire: string; readonly declarations: readonly string[] }> {
  const cache = join(root, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "client-types-"));
  try {
    const file = join(folder, "wire.ts");
    const files = [file, ...sources.map((path) => join(root, path))];
    const extended = join(root, "tsconfig.json");
    await writeFile(file, source);
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: extended, compilerOptions: emitting(folder), include: [], files }),
    );
    await promisify(execFile)(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder]);
    const read = (path: string) => readFile(join(folder, "out", path.replace(/\.ts$/, ".d.ts")), "utf8");
    return {
      wire: withoutModules(await read(relative(root, file))),
      declarations: (await Promise.all(sources.map(read))).map(withoutModules),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function emitting(folder: string) {
  const outDir = join(folder, "out");
  return { noEmit: false, incremental: false, declaration: true, emitDeclarationOnly: true, rootDir: root, outDir };
}

/** Without imports and exports: all that is named is in the same file. */
function withoutModules(declarations: string): string {
  return declarations
    .replaceAll(/^import .*;\n/gm, "")
    .replaceAll(/^export \{.*\};\n/gm, "")
    .replaceAll(/^export /gm, "")
    .replaceAll(/\bimport\("[^"]*"\)\.|\bprotocol\./g, "")
    .trim();
}

/** Constants as the types that they tell, each of which is called by its name in the others. */
function named(wire: string): string {
  const told = [...blocksOf(wire)].map(({ name, text }) => ({
    name,
    type: text
      .replace(/^declare const \w+: /, "")
      .replaceAll(/\s+/g, " ")
      .replace(/; ?$/, ""),
  }));
  const longestFirst = told
    .filter(({ type }) => type.startsWith("{ ") && type.length > 60)
    .toSorted((a, b) => b.type.length - a.type.length);
  return told
    .map(({ name, type }) => {
      const shorter = longestFirst.filter((other) => other.type.length < type.length);
      return `type ${name} = ${shorter.reduce(called, type)};`;
    })
    .join("\n");
}

/** A choice of which the last one is a list is another choice. */
function called(text: string, { name, type }: { readonly name: string; readonly type: string }): string {
  const isChoice = type.includes("} | {");
  return text.replaceAll(new RegExp(RegExp.escape(type) + (isChoice ? String.raw`(?!\[)` : ""), "g"), name);
}

interface Block {
  readonly name: string;
  readonly text: string;
}

/** Declarations with the comments before them. */
function* blocksOf(declarations: string): Iterable<Block> {
  const begin = /^(?:declare (?:abstract )?(?:const|class|function)|type|interface) (\w+)/;
  let text = "";
  let name = "";
  for (const line of declarations.split("\n")) {
    const [, next] = begin.exec(line) ?? [];
    const isComment = line.startsWith("/**");
    if ((isComment || next !== undefined) && name !== "") {
      yield { name, text };
      [text, name] = ["", ""];
    }
    text += `${line}\n`;
    name = next ?? name;
  }
  if (name !== "") yield { name, text };
}

/** What the names need, themselves included. */
function reached(blocks: readonly Block[], names: readonly string[]): ReadonlySet<string> {
  const wordsOf = new Map(blocks.map(({ name, text }) => [name, words(text)]));
  const needed = new Set(names);
  for (const name of needed) for (const word of wordsOf.get(name) ?? []) if (wordsOf.has(word)) needed.add(word);
  return needed;
}

/** Without comments, and without the names of fields and methods. */
function words(text: string): readonly string[] {
  return text.replaceAll(/\/\*\*.*?\*\//gs, "").match(/\b\w+\b(?!\(|\??:)/g) ?? [];
}

async function formatted(source: string): Promise<string> {
  const options = JSON.parse(await readFile(join(root, ".oxfmtrc.json"), "utf8")) as FormatConfig;
  const { code, errors } = await format("client.d.ts", source, options);
  if (errors.length > 0) throw new Error(`The types of the SDK cannot be read: ${JSON.stringify(errors)}`);
  return code;
}
