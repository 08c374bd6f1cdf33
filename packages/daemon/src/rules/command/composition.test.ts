import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import type { Mode, Rule, Rulebook, RuleMatch, RuleSituation, Verdict } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { judge } from "../judge.ts";

const seed = Number(process.env["CORRAL_SEED"] ?? 20_261_116);
const random = randomFrom(seed);
const rank = { allow: 0, ask: 1, deny: 2 } as const satisfies Record<Verdict, number>;

const plain = [
  ...[
    "ls",
    "ls -la src",
    "cat a",
    "git status",
    "git push origin main",
    "git commit -m x",
    "rm a",
    "rm -rf b c",
    "touch a",
    "npm test",
  ],
  ...[
    "cat secrets/key",
    "grep x secrets/a",
    "cp secrets/a b",
    "make",
    "python x.py",
    "python -c 1",
    "curl https://bad.test/x",
    "sed -i s/a/b/ c",
  ],
  ...[
    "awk '{print}' a",
    "sort -o a b",
    "find . -delete",
    "tee a",
    "echo hi",
    "$X a",
    "sudo ls",
    "mkdir d",
    "./run.sh",
    "git -c a.b=c log",
  ],
];

const wrapping = [
  ...[
    "env",
    "env CI=1",
    "timeout 5",
    "nice -n 3",
    "nohup",
    "command",
    "sudo",
    "xargs",
    "xargs -n 1",
    "stdbuf -oL",
    "setsid",
    "busybox",
    "npx",
  ],
  ...[
    "time",
    "exec",
    "ionice -c 3",
    "flock l",
    "ssh host",
    "watch",
    "find . -exec",
    "nice",
    "NO_COLOR=1",
    "builtin",
    "strace -f",
    "bundle exec",
    "xargs -e",
    "env -",
    "env -C src",
    "bun x",
    "eval --",
  ],
];

const joining: readonly ((one: string, other: string) => string)[] = [
  ...[";", " && ", " || ", " | ", "\n", " & ", " |& "].map(
    (sign) => (one: string, other: string) => `${one}${sign}${other}`,
  ),
  (one, other) => `if ${one}; then ${other}; fi`,
  (one, other) => `while ${one}; do ${other}; break; done`,
  (one, other) => `case x in x) ${one};; *) ${other};; esac`,
  (one, other) => `for f in 1 2; do ${one}; ${other}; done`,
  (one, other) => `f() { ${one}; }; ${other}`,
  (one, other) => `: $( ${one} ) $( ${other} )`,
  (one, other) => `( ${one} ); { ${other}; }`,
];

const around: readonly ((one: string) => string)[] = [
  (one) => `( ${one} )`,
  (one) => `{ ${one}; }`,
  (one) => `echo "$( ${one} )"`,
  (one) => `echo $(( $( ${one} ) ))`,
  (one) => `x=$( ${one} )`,
  heredoc,
  (one) => `sh -c ${quoted(one)}`,
  (one) => `bash -xc ${quoted(one)}`,
  (one) => `eval ${quoted(one)}`,
  (one) => `trap ${quoted(one)} EXIT`,
  (one) => `cat <( ${one} )`,
  (one) => `cd src && ${one}`,
  (one) => `{ ${one}; } > out`,
  (one) => `{ ${one}; } 2>&1 < in`,
];

/** Each with an end of its own: the first line that says it ends the outermost. */
function heredoc(one: string): string {
  const end = `E${(heredocs += 1)}`;
  return `{ cat <<${end}\n$( ${one} )\n${end}\n}`;
}
let heredocs = 0;

describe(`of commands put together at random (CORRAL_SEED=${seed})`, () => {
  test("never more is allowed than of each alone", () => {
    for (let round = 0; round < 4_000; round += 1) {
      const book = pick(books);
      const { command, parts } = composed(3);
      const strictest = Math.max(...parts.map((part) => rank[verdictOn(part, book)]));
      const verdict = verdictOn(command, book);
      // The whole is shown when it fails.
      expect([command, book.mode, verdict, rank[verdict] >= strictest]).toEqual([command, book.mode, verdict, true]);
    }
  });

  test("what is allowed runs nothing that is denied, in the shells of this machine", () => {
    const folder = mkdtempSync("/var/tmp/corral-rules-");
    try {
      const run = stage(folder);
      let ran = 0;
      for (let round = 0; round < 30_000 && ran < 60; round += 1) {
        const command = soup();
        if (verdictOn(command, strict) !== "allow") continue;
        ran += 1;
        expect([command, run(command)]).toEqual([command, ""]);
      }
      expect(ran).toBe(60);
      expect(run("rm a")).not.toBe("");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

function composed(depth: number): { readonly command: string; readonly parts: readonly string[] } {
  if (depth === 0 || random() < 0.2) {
    const command = pick(plain);
    if (random() < 0.5) return { command, parts: [command] };
    const wrapper = pick(wrapping);
    return {
      command: wrapper.endsWith("-exec") ? `${wrapper} ${command} \\;` : `${wrapper} ${command}`,
      parts: [command],
    };
  }
  const one = composed(depth - 1);
  if (random() < 0.4) return { command: pick(around)(one.command), parts: one.parts };
  const other = composed(depth - 1);
  return { command: pick(joining)(one.command, other.command), parts: [...one.parts, ...other.parts] };
}

/** Words and signs in any order: most of it is nothing, some of it a shell reads in a way nobody thought of. */
function soup(): string {
  return Array.from({ length: 2 + Math.floor(random() * 9) }, () => pick(tokens)).join(random() < 0.7 ? " " : "");
}

const tokens = [
  ...[
    "ls",
    "rm",
    "a",
    "b",
    "rm a",
    "ls",
    "ls -l",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    "\\\n",
    "(",
    ")",
    "{",
    "}",
    "$(",
    "`",
    "'",
    '"',
    "\\",
  ],
  ...[
    "$X",
    "X=rm",
    "x=rm",
    "<",
    ">",
    "/dev/null",
    ">/dev/null",
    "2>&1",
    "&>/dev/null",
    "<<E",
    "E\n",
    "<<<",
    "#",
    "nice",
    "[[",
    "]]",
    "((",
    "))",
    "$((",
    "[",
    "]",
  ],
  ...[
    "if",
    "then",
    "else",
    "fi",
    "case x in x)",
    ";;",
    "esac",
    "for x in a;",
    "do",
    "done",
    "env",
    "command",
    "sh",
    "-c",
    "eval",
    "xargs",
    "echo",
    "echo",
  ],
  ...[
    "$'rm'",
    "{ls,rm}",
    "*",
    "~",
    "=",
    "\t",
    "\r",
    "\u00a0",
    "alias ls=rm",
    "ls()",
    "time",
    "nice",
    "true",
    "false",
    "ls #",
    "-",
    "--",
    ">&2",
  ],
];

/** A folder where `rm` tells that it was called and nothing else happens. */
function stage(folder: string): (command: string) => string {
  const [bin, told] = [join(folder, "bin"), join(folder, "told")];
  spawnSync("mkdir", ["-p", bin, join(folder, "work")]);
  writeFileSync(join(bin, "rm"), `#!/bin/sh\necho called >> ${told}\n`, { mode: 0o755 });
  writeFileSync(join(bin, "ls"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  for (const name of ["env", "xargs", "nice", "sh"]) symlinkSync(`/usr/bin/${name}`, join(bin, name));
  return (command) => {
    writeFileSync(told, "");
    for (const shell of ["/bin/sh", "/bin/bash"])
      spawnSync(shell, ["-c", command], { cwd: join(folder, "work"), env: { PATH: bin }, timeout: 20_000, input: "" });
    return readFileSync(told, "utf8");
  };
}

function verdictOn(command: string, book: Rulebook): Verdict {
  return judge({ tool: "shell", effect: "writes", command }, book).verdict;
}

const rules: readonly Rule[] = [
  says("allow", { command: "git *" }),
  says("allow", { command: "ls *" }),
  says("allow", { command: "npm test" }),
  says("deny", { command: "rm *" }),
  says("deny", { command: "git push *" }),
  says("ask", { command: "make *" }),
  says("deny", { path: "secrets/**" }),
  says("deny", { host: "bad.test" }),
];

const strict = bookFor("ask", { environment: "jail", workspace: "copy", folder: "/workspace" }, [
  says("allow", { command: "ls *" }),
  says("allow", { path: "/dev/null" }),
  says("deny", { command: "rm *" }),
]);

const modes = ["plan", "ask", "auto"] as const;
const places = [
  { environment: "jail", workspace: "copy", folder: "/workspace" },
  { environment: "jail", workspace: "in-place", folder: "/workspace" },
  { environment: "local", workspace: "copy", folder: "/home/me/x" },
] as const;
const books: readonly Rulebook[] = modes.flatMap((mode) =>
  places.flatMap((place) => [
    bookFor(mode, place, []),
    bookFor(mode, place, rules),
    bookFor(mode, place, rules.slice(3)),
  ]),
);

function bookFor(mode: Mode, situation: RuleSituation, some: readonly Rule[]): Rulebook {
  return { mode, situation, rules: [...some], problems: [] };
}

function says(verdict: Verdict, match: RuleMatch): Rule {
  return { verdict, match, origin: { kind: "file", layer: "user", file: "/rules.json", line: 1, column: 1 } };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function pick<T>(from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T;
}

/** The same numbers for the same seed. */
function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
