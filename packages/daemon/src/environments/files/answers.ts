import type { FileEntry, FileStat } from "./port.ts";

/** `MODE SIZE TIME` of a file that links were followed to. */
export function readFacts(line: string): FileStat {
  const [, mode = "", size = "", time = ""] = /^([0-9a-f]+) (\d+) (.*)$/.exec(line.trim()) ?? [];
  const bits = parseInt(mode, 16);
  const kind = kindOf(bits);
  return {
    kind: kind === "link" ? "other" : kind,
    size: Number(size),
    mode: bits & 0o7777,
    modifiedMs: millisecondsOf(time),
  };
}

/**
 * Lines `MODE SIZE ./NAME` by name. A name may hold newlines, but no slash: what follows a newline begins an entry only if it has
 * one in the right place. Bytes that are no UTF-8 are shown as U+FFFD; no file can be asked for by such a name.
 */
export function readEntries(answer: Buffer): FileEntry[] {
  const lines = answer.toString("latin1").split(/\n(?=[0-9a-f]+ \d+ \.\/|$(?![^]))/);
  const entries = lines.flatMap((line) => {
    const [, mode, size, name] = /^([0-9a-f]+) (\d+) \.\/([^]*)$/.exec(line) ?? [];
    return mode === undefined ? [] : [{ name: name!, kind: kindOf(parseInt(mode, 16)), size: Number(size) }];
  });
  return entries
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((entry) => ({ ...entry, name: Buffer.from(entry.name, "latin1").toString() }));
}

export interface Trace {
  readonly path: string;
  readonly isFolder: boolean;
  readonly mode: string;
  readonly inode: string;
  readonly content: string;
}

/** Lines `MODE SIZE INODE TIME PATH`. */
export function readTraces(answer: Buffer): Trace[] {
  return answer
    .toString()
    .split(/\n(?=[0-9a-f]+ \d+ \d+ [-0-9.:+ ]+ \.?\/|$(?![^]))/)
    .flatMap((line) => {
      const [, mode, size, inode, time, path] = /^([0-9a-f]+) (\d+) (\d+) ([-0-9.:+ ]+) (\.?\/[^]*)$/.exec(line) ?? [];
      if (mode === undefined) return [];
      return [
        {
          path: path!,
          isFolder: kindOf(parseInt(mode, 16)) === "folder",
          mode,
          inode: inode!,
          content: `${size} ${time}`,
        },
      ];
    });
}

function kindOf(bits: number): FileEntry["kind"] {
  switch (bits & 0o170000) {
    case 0o100000:
      return "file";
    case 0o040000:
      return "folder";
    case 0o120000:
      return "link";
    default:
      return "other";
  }
}

/** Seconds with a fraction, or a date as `stat` prints it. */
function millisecondsOf(time: string): number {
  const [, seconds, thousandths] = /^(\d+)\.(\d{3})\d*$/.exec(time) ?? [];
  if (seconds !== undefined) return Number(`${seconds}${thousandths}`);
  const [, day, hour, offset = "+0000"] = /^(\S+) ([\d:]+(?:\.\d{1,3})?)\d*(?: (\S+))?$/.exec(time) ?? [];
  return Date.parse(`${day}T${hour}${offset.slice(0, 3)}:${offset.slice(3)}`);
}
