import { CorralError, type ErrorCode } from "@corral/protocol";
import { HandLost, HandRefused } from "./hands/hand.ts";

/** What a hand's failure means to whoever asked for the file. */
export function failureOf(error: unknown, path: string): unknown {
  if (error instanceof HandRefused) return refusal(reasonIn(error.message), path, error);
  if (!(error instanceof HandLost)) return error;
  return new CorralError("file.failed", `${path}: ${error.message}`, {
    retry: "later",
    hint: "Try again. If it stays so, the environment may be busy, or the file lies on a disk that does not answer.",
    cause: error,
  });
}

export function isMissing(error: unknown): boolean {
  return error instanceof HandRefused && missing.has(reasonIn(error.message));
}

/** Programs say `name: file: reason`, and a file's name may hold anything: what counts is the end. */
function reasonIn(message: string): string {
  return message.split(": ").at(-1)!.trim();
}

function refusal(reason: string, path: string, cause: Error): CorralError {
  const { code, hint } = meanings.find(({ reasons }) => reasons.has(reason)) ?? other;
  return new CorralError(code, `${path}: ${says[reason] ?? reason}`, {
    hint,
    retry: code === "file.changed" ? "now" : "never",
    cause,
  });
}

const says: Readonly<Record<string, string>> = {
  changed: "it has changed since it was read",
  exists: "it is there already",
  "not a regular file": "it is no regular file",
  "not a folder": "it is no folder",
};

interface Meaning {
  readonly code: ErrorCode;
  readonly reasons: ReadonlySet<string>;
  readonly hint: string;
}

const missing = new Set([
  "No such file or directory",
  "Not a directory",
  "Directory nonexistent",
  "nonexistent directory",
]);

/** By the words of the C libraries glibc and musl, and of the shells dash and ash. */
const meanings: readonly Meaning[] = [
  { code: "file.missing", reasons: missing, hint: "List the folder to see what is there." },
  {
    code: "file.refused",
    reasons: new Set([
      "Permission denied",
      "Operation not permitted",
      "Read-only file system",
      "Device or resource busy",
      "Resource busy",
      "Text file busy",
    ]),
    hint: "This place is closed to the environment: work in the workspace, outside of its protected files.",
  },
  {
    code: "file.unsuitable",
    reasons: new Set([
      "Is a directory",
      "not a regular file",
      "not a folder",
      "Too many levels of symbolic links",
      "Symbolic link loop",
      "File name too long",
      "Filename too long",
      "File exists",
      "No such device or address",
      "Invalid argument",
    ]),
    hint: "Look at what it is, and name another.",
  },
  {
    code: "file.changed",
    reasons: new Set(["changed"]),
    hint: "Read it again and make the change on what it holds now.",
  },
  { code: "file.exists", reasons: new Set(["exists"]), hint: "Read it first, or choose another name." },
  {
    code: "file.too-large",
    reasons: new Set(["File too large", "No space left on device", "Disk quota exceeded", "Quota exceeded"]),
    hint: "Make room first.",
  },
];

const other = { code: "file.failed", hint: "Look at the file with the shell." } as const;
