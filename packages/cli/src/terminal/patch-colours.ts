import { bold, coloured, dim, type Output, shown } from "./output.ts";

/** A patch as a person reads it: what came in green, what went in red. */
export function colouredPatch(patch: string, out: Output): string {
  if (!out.colour) return shown(patch);
  return patch
    .split("\n")
    .map((line) => painted(shown(line), out))
    .join("\n");
}

function painted(line: string, out: Output): string {
  if (line === "") return line;
  if (/^(diff |index |new file|deleted file|old mode|new mode|similarity |rename |--- |\+\+\+ )/.test(line))
    return line.startsWith("diff ") ? bold(line, out) : dim(line, out);
  if (line.startsWith("@@")) return coloured(line, "cyan", out);
  if (line.startsWith("+")) return coloured(line, "green", out);
  return line.startsWith("-") ? coloured(line, "red", out) : line;
}
