import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { dispatch } from "../dispatch.ts";
import { testWorld } from "../testing/world.ts";

async function script(shell: string): Promise<string> {
  const { world, written } = testWorld();
  expect(await dispatch(["completion", shell], world)).toBe(0);
  return written.out;
}

/** What the shell, which reads no settings of anybody's, offers for the last word of a line. */
type Offers = (completion: string, line: string) => string[];

const bashOffers: Offers = (completion, line) => {
  const words = line.split(" ");
  const program = `${completion}
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _corral
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  return linesOf(execFileSync("bash", ["--norc", "-c", program, "bash", ...words], { encoding: "utf8" }));
};

const fishOffers: Offers = (completion, line) => {
  const program = `${completion}\ncomplete -C $argv[1]`;
  const said = execFileSync("fish", ["--no-config", "-c", program, line], { encoding: "utf8" });
  // Each is followed by what it does.
  return linesOf(said).map((offer) => offer.split("\t", 1)[0] ?? "");
};

/** Zsh completes only for somebody who types, so a line and a tab are typed into one at a terminal of its own. */
const zshOffers: Offers = (completion, line) => {
  const folder = mkdtempSync(join(tmpdir(), "corral-zsh-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [own, offers, rehearsal] = ["_corral", "offers", "rehearsal"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(own, completion);
  writeFileSync(offers, "");
  writeFileSync(rehearsal, zshRehearsal);
  const env = { PATH: process.env["PATH"], HOME: folder, TERM: "dumb", COMPLETION: own, OFFERS: offers };
  execFileSync("zsh", ["-f", "-c", zshTyping, "zsh", rehearsal, line], { env, timeout: 60_000 });
  return linesOf(readFileSync(offers, "utf8"));
};

const zshTyping = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "source $1"
zpty -r shell answer "*READY*"
zpty -w -n shell "$2"$'\\t'
while zpty -r shell answer; do :; done
zpty -d shell`;

/** Whatever would be shown is written down instead, except what the completion system asks for itself. */
const zshRehearsal = `
PROMPT=
autoload -Uz compinit
compinit -u -D
source $COMPLETION
compadd() {
  local -a hits
  case " \${(j: :)@[1,(i)--]} " in
    (*' -'[[:alpha:]]#[OAD]' '*) builtin compadd "$@"; return ;;
  esac
  builtin compadd -A hits "$@"
  (( $#hits )) && print -rl -- $hits >> $OFFERS
  return $(( ! $#hits ))
}
offer() { zle list-choices; exit }
zle -N offer
bindkey '^I' offer
print READY
`;

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

const shells: Readonly<Record<string, Offers>> = { bash: bashOffers, zsh: zshOffers, fish: fishOffers };
const missing = Object.keys(shells).filter((shell) => spawnSync(shell, ["--version"]).error !== undefined);
if (missing.length > 0) console.warn(`Completion is not tried in ${missing.join(" and ")}: not installed here.`);

describe.each(Object.entries(shells))("in %s", (shell, offers) => {
  test.skipIf(missing.includes(shell))(
    "commands, flags and words are completed",
    async () => {
      const completion = await script(shell);
      const sorted = (line: string) => offers(completion, line).toSorted();
      expect(sorted("corral sta")).toEqual(["status"]);
      expect(sorted("corral hel")).toEqual(["help"]);
      expect(sorted("corral resu")).toEqual(["resume"]);
      expect(sorted("corral resume --j")).toEqual(["--json"]);
      expect(sorted("corral --v")).toEqual(["--version"]);
      expect(sorted("corral events --")).toEqual([
        "--after",
        "--deltas",
        "--follow",
        "--help",
        "--json",
        "--project",
        "--session",
        "--types",
      ]);
      expect(sorted("corral completion z")).toEqual(["zsh"]);
      expect(sorted("corral token c")).toEqual(["create"]);
      expect(sorted("corral help doc")).toEqual(["doctor"]);
    },
    60_000,
  );

  test.skipIf(missing.includes(shell))(
    "the value of a flag, and what belongs to no command, is nobody's to guess",
    async () => {
      const completion = await script(shell);
      expect(offers(completion, "corral events --session ")).toEqual([]);
      expect(offers(completion, "corral nothing ")).toEqual([]);
    },
    60_000,
  );
});

describe.each(Object.entries(shells))("in %s, where a daemon runs", (shell, offers) => {
  test.skipIf(missing.includes(shell))(
    "sessions are offered to commands that take one, beside their other words",
    async () => {
      const completion = await script(shell);
      const folder = mkdtempSync(join(tmpdir(), "corral-path-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const program = `#!/bin/sh\n[ "$*" = "completion sessions" ] && printf 'ses_01ka\\tFix it\\nses_01kb\\t\\n'\n`;
      writeFileSync(join(folder, "corral"), program, { mode: 0o755 });
      vi.stubEnv("PATH", `${folder}:${process.env["PATH"]}`);
      onTestFinished(() => void vi.unstubAllEnvs());
      const sorted = (line: string) => offers(completion, line).toSorted();
      expect(sorted("corral diff ses_")).toEqual(["ses_01ka", "ses_01kb"]);
      expect(sorted("corral steer @")).toEqual(["@last"]);
      expect(sorted("corral queue pro")).toEqual(["promote"]);
      expect(sorted("corral interrupt --b")).toEqual(["--boundary"]);
      expect(sorted("corral stop ses_")).toEqual([]);
    },
    60_000,
  );
});

test("bash takes it as it is told to be used", async () => {
  const program = 'source <(printf %s "$1"); complete -p corral';
  const args = ["--norc", "-c", program, "bash", await script("bash")];
  expect(execFileSync("bash", args, { encoding: "utf8" })).toBe("complete -F _corral corral\n");
});

test("zsh and fish get every command and flag, with what it does", async () => {
  const zsh = await script("zsh");
  expect(zsh).toMatch(/^#compdef corral\n/);
  expect(zsh).toContain("'stop:Stop the daemon and wait until it has ended'");
  expect(zsh).toContain("'--deltas[with --json\\: also print text and output while they arrive]'");
  expect(zsh).toContain("'--detach[print the session'\\''s id and leave it working]'");
  expect(zsh).toContain("'1:word:(bash zsh fish)'");
  const fish = await script("fish");
  expect(fish).toContain(
    "complete -c corral -n __fish_use_subcommand -a stop -d 'Stop the daemon and wait until it has ended'\n",
  );
  expect(fish).toContain(
    "complete -c corral -n '__fish_seen_subcommand_from run' -l detach -d 'print the session\\'s id and leave it working'\n",
  );
  expect(fish).toContain("complete -c corral -n '__fish_seen_subcommand_from events' -l after -x -d");
});
