import type { StoredEvent } from "@corral/protocol";
import { type Hole, type Salvage, salvage } from "./salvage.ts";

export interface ExportWish {
  readonly after: number;
  /** Only this stream's events. */
  readonly stream?: string | undefined;
}

export interface Exported extends Salvage {
  /** How many events were written. */
  readonly written: number;
}

const batchCharacters = 256 * 1024;

/**
 * Writes what is readable of a file as lines of JSON, with a line for each stretch that is missing. In a stream's lines
 * such a stretch may have held events of it or not.
 */
export async function exportSalvaged(
  file: string,
  { after, stream }: ExportWish,
  write: (lines: string) => void,
): Promise<Exported> {
  const items = salvage(file);
  let written = 0;
  let lines = "";
  for (;;) {
    const { done, value } = await items.next();
    if (done === true) {
      write(lines);
      return { ...value, written };
    }
    if (!isWanted(value)) continue;
    if (!isHole(value)) written += 1;
    lines += `${JSON.stringify(value)}\n`;
    if (lines.length < batchCharacters) continue;
    write(lines);
    lines = "";
  }

  function isWanted(item: StoredEvent | Hole): boolean {
    if (isHole(item)) return item.to > after;
    return item.seq > after && (stream === undefined || item.stream === stream);
  }
}

function isHole(item: StoredEvent | Hole): item is Hole {
  return "kind" in item;
}
