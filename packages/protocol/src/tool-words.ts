import { type TodoItem, todoLines } from "./todo.ts";

/** What a call of a built-in tool asks for, in a line; undefined: of another tool, or not in its shape. */
export function toolWords(tool: string, given: Readonly<Record<string, unknown>>): string | undefined {
  const word = (name: string) => (typeof given[name] === "string" ? given[name] : undefined);
  const path = word("path");
  switch (tool) {
    case "read":
      return path === undefined || typeof given["from"] !== "number" ? path : `${path}:${given["from"]}`;
    case "write":
    case "edit":
      return path;
    case "patch":
      return patchedFiles(word("patch") ?? "").join(", ");
    case "search":
      return [word("pattern"), word("in") ?? "", word("glob") ?? ""].filter((part) => part !== "").join(" ");
    case "list":
      return [path ?? ".", word("pattern") ?? ""].filter((part) => part !== "").join(" ");
    case "todo":
      return "";
    case "ask":
      return word("question");
    default:
      return undefined;
  }
}

/** What came of a call of a built-in tool, for people, who see more than enough text; undefined: of another tool. */
export function resultWords(tool: string, result: unknown): string | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  const facts = result as Readonly<Record<string, unknown>>;
  const list = (name: string) => (Array.isArray(facts[name]) ? (facts[name] as unknown[]) : []);
  switch (tool) {
    case "read":
      return typeof facts["mediaType"] === "string"
        ? facts["mediaType"]
        : `${list("text").length} of ${String(facts["of"])} lines`;
    case "write":
      return `${facts["isNew"] === true ? "new, " : ""}${String(facts["bytes"])} bytes`;
    case "edit":
      return `at line ${list("lines").map(String).join(", ")}`;
    case "patch":
      return (list("files") as { did: string; path: string }[]).map(({ did, path }) => `${did} ${path}`).join("\n");
    case "search":
      return `${counted(facts["matches"], "line")} in ${counted(facts["files"], "file")}`;
    case "list":
      return `${String(facts["count"])} entries`;
    case "ask":
      return typeof facts["answer"] === "string" ? facts["answer"] : "no answer";
    case "todo":
      return todoLines(list("items") as TodoItem[]).join("\n");
    default:
      return undefined;
  }
}

function counted(count: unknown, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function patchedFiles(patch: string): readonly string[] {
  return [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$/gm)].map((found) => found[1] ?? "");
}
