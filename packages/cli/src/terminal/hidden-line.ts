import type { Screen } from "../world.ts";

/** A line that is typed and not shown. Undefined: it was given up (Ctrl-C, Ctrl-D, or the program is told to end). */
export function hiddenLine(screen: Screen, prompt: string): Promise<string | undefined> {
  screen.write(prompt);
  return new Promise((resolve) => {
    let typed = "";
    const end = (line: string | undefined) => {
      release();
      screen.write("\r\n");
      resolve(line);
    };
    const release = screen.takeKeys(
      (keys) => {
        for (const key of Buffer.from(keys).toString("utf8")) {
          if (key === "\r" || key === "\n") return end(typed);
          if (key === "\u0003" || key === "\u0004") return end(undefined);
          if (key === "\u007f" || key === "\b") typed = typed.slice(0, -1);
          else if (key === "\u0015") typed = "";
          else typed += key;
        }
      },
      () => end(undefined),
    );
  });
}
