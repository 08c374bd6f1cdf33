import { does, joined, through, type Use } from "./use.ts";
import { textOf } from "./words.ts";

const flags = /^-[46AaCfGgKkMNnqsTtVvXxYy]+$/;
const valued = /^-[BbcDeEIiJLlmOpQRSWw]$/;

/** What runs on the other machine is judged as if it ran here. */
export function sshCommand(use: Use): void {
  const { words, rest, via, taking } = use;
  does(use, "runs");
  for (let index = 0; index < rest.length; index += 1) {
    const { value } = rest[index] ?? {};
    if (value === undefined) break;
    if (flags.test(value)) continue;
    if (valued.test(value)) {
      index += 1;
      continue;
    }
    // Any other option, above all -o and -F, can name programs that run here.
    if (value.startsWith("-")) break;
    const host = value.replace(/^ssh:\/\//, "").replace(/^.*@/, "");
    taking.add({ kind: "host", text: value, host, isAsked: false, ...through(via) });
    const command = rest.slice(index + 1);
    return command.length === 0
      ? taking.unclear(textOf(words), "it runs what it reads", via)
      : joined(command, [...via, "ssh"], taking);
  }
  taking.unclear(textOf(words), "it is not plain where it goes, or which programs it uses", via);
}
