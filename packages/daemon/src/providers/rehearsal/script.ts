import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { type RehearsalScript, rehearsalScript } from "@corral/protocol";
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { refused } from "../failure.ts";

const longest = 32 * 2 ** 20;

/**
 * The script of a model's name: an absolute path, or one in the folder of scripts, where `.json` may be left out. What is
 * wrong with it is told by its place; a file that is none of the user's scripts is never quoted.
 */
export async function readScript(scripts: string, name: string): Promise<RehearsalScript> {
  const file = placeOf(scripts, name);
  const text = await textOf(file);
  const errors: ParseError[] = [];
  const root = parseTree(text.replace(/^\uFEFF/, " "), errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) throw broken(file, text, first.offset, wording(printParseErrorCode(first.error)));
  if (root === undefined) throw broken(file, text, 0, "value expected");
  const { data, error } = rehearsalScript.safeParse(getNodeValue(root));
  if (data !== undefined) return data;
  const { path, message } = deepest(error.issues[0]);
  throw broken(file, text, offsetOf(root, path), message);
}

function placeOf(scripts: string, name: string): string {
  if (isAbsolute(name)) return name;
  const parts = name.split("/");
  if (parts.some((part) => part === "" || part === "." || part === ".."))
    throw refused(`"${name}" names no script.`, `Name one in ${scripts}, or give an absolute path`);
  return join(scripts, name.endsWith(".json") ? name : `${name}.json`);
}

/** A pipe would hold up every session of this process. */
async function textOf(file: string): Promise<string> {
  try {
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error("it is no file");
    if (stat.size > longest) throw new Error("it is too large");
    return await handle.readFile("utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : (code ?? message);
    throw refused(`The script ${file} cannot be read: ${why}.`, "`corral rehearsal --help` tells where scripts are");
  }
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly errors?: readonly (readonly Issue[])[];
}

/** Of several shapes none of which fits, the one that fits the furthest tells what is wrong. */
function deepest(issue: Issue | undefined): Issue {
  if (issue === undefined) return { path: [], message: "it is no script" };
  const shapes = (issue.errors ?? []).filter((each) => each.length > 0);
  const near = shapes.toSorted((a, b) => a.length - b.length)[0]?.[0];
  if (near === undefined) return issue;
  const inner = deepest(near);
  return { path: [...issue.path, ...inner.path], message: inner.message };
}

function offsetOf(root: Node, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = findNodeAtLocation(root, path.slice(0, length) as (string | number)[]);
    if (node !== undefined) return node.offset;
  }
  return root.offset;
}

function broken(file: string, text: string, offset: number, message: string) {
  const before = text.slice(0, offset).split("\n");
  const place = `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
  return refused(
    `The script is broken at ${place}: ${message}.`,
    "`corral rehearsal schema` tells what a script may hold",
  );
}

/** `CommaExpected` → "comma expected". */
function wording(code: string): string {
  return code.replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).toLowerCase();
}
