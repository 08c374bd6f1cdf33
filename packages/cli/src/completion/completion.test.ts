import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { testWorld } from "../testing/world.ts";

async function script(shell: string): Promise<string> {
  const { world, written } = testWorld();
  expect(await dispatch(["completion", shell], world)).toBe(0);
  return written.out;
}

/** What bash offers for the last of these words. */
function offers(completion: string, words: readonly string[]): string[] {
  const program = `${completion}
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _corral
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const said = execFileSync("bash", ["--norc", "-c", program, "bash", ...words], { encoding: "utf8" });
  return said.trim() === "" ? [] : said.trim().split("\n");
}

test("bash takes it and completes commands, flags and words", async () => {
  const completion = await script("bash");
  const program = 'source <(printf %s "$1"); complete -p corral';
  const registered = execFileSync("bash", ["--norc", "-c", program, "bash", completion], { encoding: "utf8" });
  expect(registered).toBe("complete -F _corral corral\n");
  expect(offers(completion, ["corral", "st"])).toEqual(["status", "stop"]);
  expect(offers(completion, ["corral", "--v"])).toEqual(["--version"]);
  expect(offers(completion, ["corral", "events", "--"])).toEqual([
    "--session",
    "--project",
    "--types",
    "--after",
    "--follow",
    "--deltas",
    "--json",
    "--help",
  ]);
  expect(offers(completion, ["corral", "events", "--session", ""])).toEqual([]);
  expect(offers(completion, ["corral", "completion", "z"])).toEqual(["zsh"]);
  expect(offers(completion, ["corral", "help", "doc"])).toEqual(["doctor"]);
  expect(offers(completion, ["corral", "nothing", ""])).toEqual([]);
});

test("zsh and fish get every command and flag, with what it does", async () => {
  const zsh = await script("zsh");
  expect(zsh).toMatch(/^#compdef corral\n/);
  expect(zsh).toContain("'stop:stop the daemon'");
  expect(zsh).toContain("'--deltas[with --json\\: print live pieces of text and output too]'");
  expect(zsh).toContain("'--detach[print the session'\\''s id and leave it working]'");
  expect(zsh).toContain("'1:word:(bash zsh fish)'");
  const fish = await script("fish");
  expect(fish).toContain("complete -c corral -n __fish_use_subcommand -a stop -d 'stop the daemon'\n");
  expect(fish).toContain(
    "complete -c corral -n '__fish_seen_subcommand_from run' -l detach -d 'print the session\\'s id and leave it working'\n",
  );
  expect(fish).toContain("complete -c corral -n '__fish_seen_subcommand_from events' -l after -x -d");
});
