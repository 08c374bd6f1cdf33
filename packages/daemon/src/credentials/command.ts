import { execFile } from "node:child_process";
import { CorralError } from "@corral/protocol";
import { outsideOfRepositories } from "../executables/index.ts";

/** Somebody may have to type a password into a window first. */
const usualMs = 60_000;

/**
 * What a command prints, as a key: the first line of it. It is run as it is, without a shell, and looked for in no repository, where an agent
 * could have put one of its name; what it prints is in no error. Throws `credentials.unusable`.
 */
export async function keyPrintedBy(
  command: readonly string[],
  { timeoutMs = usualMs }: { readonly timeoutMs?: number } = {},
): Promise<string> {
  const [program = "", ...words] = command;
  const env = { ...process.env, PATH: outsideOfRepositories(process.env["PATH"] ?? "") };
  const printed = await new Promise<string>((resolve, reject) => {
    const child = execFile(
      program,
      words,
      { timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: 64 * 1024, encoding: "utf8", env, cwd: "/" },
      (error, stdout) => (error === null ? resolve(stdout) : reject(unusable(program, reasonOf(error, timeoutMs)))),
    );
    child.stdin?.end();
  });
  // Stores of passwords keep notes in the lines below.
  const [first = ""] = printed.trim().split("\n", 1);
  const key = first.trim();
  if (!/^[\x21-\x7e]{1,10000}$/.test(key)) throw unusable(program, "it printed no key");
  return key;
}

function reasonOf(error: Error, timeoutMs: number): string {
  const { code, killed, signal } = error as Error & { code?: unknown; killed?: boolean; signal?: string | null };
  if (code === "ENOENT") return "there is no such program outside of repositories";
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return "it printed no key";
  if (killed === true) return `it did not end within ${timeoutMs / 1000} s`;
  if (typeof code === "number") return `it ended with exit code ${code}`;
  return typeof signal === "string" ? `it was ended by ${signal}` : `it could not be run (${String(code)})`;
}

function unusable(program: string, why: string): CorralError {
  return new CorralError("credentials.unusable", `The command ${program} gave no key: ${why}.`, {
    hint: "Run it by hand to see what it says; `corral auth login PROVIDER` takes another, also by its whole path",
  });
}
