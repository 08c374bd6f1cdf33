import { plainGlobOf } from "./glob.ts";

/** What the .gitignore files say, each about the folder it lies in. Paths are relative to the folder that all of them lie below. */
export function ignoredBy(files: ReadonlyMap<string, string>): (path: string, from?: string) => boolean {
  const rules = new Map([...files].map(([folder, text]) => [folder, rulesOf(text)]));
  const folders = new Map<string, boolean>();

  function isIgnored(path: string, kind: "file" | "folder"): boolean {
    const names = path.split("/");
    for (let depth = names.length - 1; depth >= 0; depth -= 1) {
      const rest = names.slice(depth).join("/");
      const rule = rules
        .get(names.slice(0, depth).join("/"))
        ?.findLast(({ fits, onlyFolders }) => (kind === "folder" || !onlyFolders) && fits(rest));
      if (rule !== undefined) return rule.ignores;
    }
    return false;
  }

  function folderIsIgnored(folder: string, from: string): boolean {
    if (folder === from || folder === "") return false;
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const ignored = folderIsIgnored(above(folder), from) || isIgnored(folder, "folder");
    folders.set(folder, ignored);
    return ignored;
  }

  return (path, from = "") => folderIsIgnored(above(path), from) || isIgnored(path, "file");
}

function above(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

interface Rule {
  readonly ignores: boolean;
  readonly onlyFolders: boolean;
  readonly fits: (path: string) => boolean;
}

function rulesOf(text: string): Rule[] {
  return text.split("\n").flatMap((line) => {
    const [, not = "", pattern = ""] = /^(!?)(.*)$/.exec(line.replace(/(?<!\\) +$/, "").replace(/\r$/, "")) ?? [];
    if (pattern === "" || line.startsWith("#")) return [];
    const onlyFolders = pattern.endsWith("/");
    const body = onlyFolders ? pattern.slice(0, -1) : pattern;
    const anchored = body.includes("/") ? body.replace(/^\//, "") : `**/${body}`;
    return [{ ignores: not === "", onlyFolders, fits: plainGlobOf(anchored) }];
  });
}
