import type { ArtifactNamed } from "@corral/protocol";
import type { ToolContext } from "./tool.ts";

/** What a model gets of a text, and where the whole is. */
export interface Bounded {
  readonly text: string;
  readonly whole?: ArtifactNamed;
}

const mostCharacters = 32 * 1024;

/** Head and tail of a text that is too long for a model, by whole lines; all of it is kept as an artifact, if that can be. */
export async function bound(text: string, { place }: Pick<ToolContext, "place">): Promise<Bounded> {
  if (text.length <= mostCharacters) return { text };
  const lines = text.split("\n");
  const head = fitting(lines, (mostCharacters * 3) / 4);
  const tail = fitting(lines.toReversed(), mostCharacters / 4);
  const between = lines.length - head - tail;
  const shown = [...lines.slice(0, head), `(… ${between} lines left out …)`, ...lines.slice(lines.length - tail)];
  const whole = await keep(text, place);
  return { text: shown.join("\n"), ...(whole === undefined ? {} : { whole }) };
}

export function wholeNote({ whole }: Bounded): string {
  return whole === undefined ? "" : `(all of it is kept for people as the artifact ${whole.id})`;
}

function fitting(lines: readonly string[], room: number): number {
  let left = room;
  const over = lines.findIndex((line) => (left -= line.length + 1) < 0);
  return over === -1 ? lines.length : over;
}

/** What cannot be kept is left out; the call's result is no worse for it. */
async function keep(text: string, place: ToolContext["place"]): Promise<ArtifactNamed | undefined> {
  const output = place("stdout");
  try {
    const begun = await output.begin();
    const bytes = Buffer.from(text).subarray(begun.bytes + (begun.leftOut?.bytes ?? 0));
    for (let at = 0; at < bytes.length; at += pieceBytes) await output.append(bytes.subarray(at, at + pieceBytes));
    return await output.finish();
  } catch {
    return undefined;
  }
}

const pieceBytes = 192 * 1024;
