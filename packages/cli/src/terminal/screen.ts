import type { Screen } from "../world.ts";

/** The process's terminal, if a person may sit at it. */
export function screenOf({ stdin, stdout }: Pick<NodeJS.Process, "stdin" | "stdout">): Screen | undefined {
  if (!stdin.isTTY || !stdout.isTTY) return undefined;
  return {
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    onResize(listener) {
      stdout.on("resize", listener);
      return () => stdout.off("resize", listener);
    },
    takeKeys(listener, onEnd) {
      const hear = (keys: Buffer) => listener(keys);
      stdin.setRawMode(true);
      stdin.on("data", hear).on("end", onEnd).resume();
      for (const signal of endings) process.on(signal, onEnd);
      return () => {
        stdin.off("data", hear).off("end", onEnd).pause();
        for (const signal of endings) process.off(signal, onEnd);
        stdin.setRawMode(false);
      };
    },
    write: (bytes) => void stdout.write(bytes),
  };
}

const endings = ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"] as const;
