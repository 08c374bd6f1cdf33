import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Circumstances, type Condition, errnos, refusals } from "./policy.ts";
import { answers, auditArchitectures, seccompProgram } from "./program.ts";
import { type Architecture, architectures, newestKnown, numberOf, type SystemCall, systemCalls } from "./syscalls.ts";
import { interpret } from "./testing/interpreter.ts";

const own: Circumstances = { unixSockets: "own", sharedSegments: "any", setGroupId: "own" };
const openNetwork: Circumstances = { unixSockets: "refused", sharedSegments: "any", setGroupId: "refused" };
const uncounted: Circumstances = { unixSockets: "own", sharedSegments: "small", setGroupId: "refused" };

type Outcome = "allowed" | "ended" | keyof typeof errnos;

describe.each(architectures)("on %s", (architecture) => {
  const program = seccompProgram(architecture, own);
  const audit = auditArchitectures[architecture];
  const outcomeOf = (call: SystemCall, ...given: number[]) => {
    const number = numberOf(call, architecture);
    if (number === undefined) return undefined;
    return named(interpret(program, { architecture: audit, number, arguments: given.map(BigInt) }));
  };

  test("each call of the list is answered as it should be", () => {
    const wrong = cases
      .map(([call, given, expected]) => [call, given, expected, outcomeOf(call, ...given)])
      .filter(([, , expected, outcome]) => outcome !== undefined && outcome !== expected);
    expect(wrong).toEqual([]);
  });

  test("what the list does not name is let through, whatever its arguments are", () => {
    const refused = new Set(systemCalls.map((call) => numberOf(call, architecture)));
    const answered = Array.from({ length: newestKnown + 1 }, (_, number) => number)
      .filter((number) => !refused.has(number))
      .flatMap((number) =>
        [0n, 1n, 0xffff_ffff_ffff_ffffn].map((each) =>
          interpret(program, { architecture: audit, number, arguments: [each, each, each] }),
        ),
      );
    expect(new Set(answered)).toEqual(new Set([answers.allow]));
  });

  test("calls newer than the list do not exist", () => {
    for (const number of [newestKnown + 1, 1000, 0x3fff_ffff, 0x4000_0000, 0x4000_0001, 0x7fff_ffff, 0xffff_ffff]) {
      expect(named(interpret(program, { architecture: audit, number }))).toBe("ENOSYS");
    }
  });

  test("a program for another processor ends, whatever it calls", () => {
    const others = { i386: 0x4000_0003, arm: 0x4000_0028, none: 0, ...auditArchitectures };
    for (const other of Object.values(others).filter((value) => value !== audit)) {
      for (const number of [0, 1, 20, 200, newestKnown + 1])
        expect(named(interpret(program, { architecture: other, number }))).toBe("ended");
    }
  });

  test("the upper half of an argument, which the kernel ignores, hides nothing", () => {
    const high = 1n << 32n;
    const sti = { architecture: audit, number: numberOf("ioctl", architecture)!, arguments: [0n, high | 0x5412n] };
    expect(named(interpret(program, sti))).toBe("EPERM");
    const vsock = { architecture: audit, number: numberOf("socket", architecture)!, arguments: [high | 40n, 1n, 0n] };
    expect(named(interpret(program, vsock))).toBe("EAFNOSUPPORT");
  });

  const each = [own, openNetwork, uncounted];
  test.each(each)(
    "the program says the same as the policy with $unixSockets sockets, $sharedSegments segments",
    (at) => {
      const bytes = seccompProgram(architecture, at);
      const wrong = [...samples(architecture)].filter(({ number, given }) => {
        const seen = interpret(bytes, { architecture: audit, number, arguments: given.map(BigInt) });
        return named(seen) !== judge(architecture, at, number, given);
      });
      expect(wrong).toEqual([]);
    },
  );

  test("with the machine's network unix sockets are refused and their pairs are not", () => {
    const open = seccompProgram(architecture, openNetwork);
    const ask = (call: SystemCall) =>
      named(interpret(open, { architecture: audit, number: numberOf(call, architecture)!, arguments: [1n, 1n, 0n] }));
    expect([ask("socket"), ask("socketpair"), outcomeOf("socket", 1, 1, 0)]).toEqual([
      "EAFNOSUPPORT",
      "allowed",
      "allowed",
    ]);
  });

  test("modes with the set-group-id bit are refused only where the jail's group may be somebody's", () => {
    const ask = (call: SystemCall, given: readonly number[], at: Circumstances) => {
      const number = numberOf(call, architecture);
      if (number === undefined) return undefined;
      const bytes = seccompProgram(architecture, at);
      return named(interpret(bytes, { architecture: audit, number, arguments: given.map(BigInt) }));
    };
    expect(ask("fchmodat", [3, 0, 0o2775], own)).toBe("allowed");
    expect(ask("fchmodat", [3, 0, 0o2775], { ...own, setGroupId: "refused" })).toBe("EPERM");
    expect(ask("openat", [3, 0, 0o101, 0o2755], { ...own, setGroupId: "refused" })).toBe("EPERM");
    expect(ask("openat", [3, 0, 0o101, 0o755], { ...own, setGroupId: "refused" })).toBe("allowed");
  });

  test("large segments of shared memory are refused where nobody counts them, by all 64 bits of their size", () => {
    const program = seccompProgram(architecture, uncounted);
    const ask = (bytes: bigint, of = program) =>
      named(interpret(of, { architecture: audit, number: numberOf("shmget", architecture)!, arguments: [0n, bytes] }));
    expect([0n, 56n, 16_384n].map((bytes) => ask(bytes))).toEqual(["allowed", "allowed", "allowed"]);
    expect([16_385n, 1n << 31n, 1n << 32n, (1n << 40n) + 1n].map((bytes) => ask(bytes))).toEqual(
      Array.from({ length: 4 }, () => "EINVAL"),
    );
    expect(ask(1n << 32n, seccompProgram(architecture, own))).toBe("allowed");
  });

  test("the kernel would take it: whole instructions, not too many", () => {
    expect(program.length % 8).toBe(0);
    expect(program.length / 8).toBeLessThan(4096);
  });
});

const newUser = 0x1000_0000;
const fork = 0x0120_0011; // CHILD_CLEARTID, CHILD_SETTID and SIGCHLD
const thread = 0x003d_0f00;

/** Written by hand from what the calls mean, not from the policy. Numbers are arguments. */
const cases: [SystemCall, number[], Outcome][] = [
  ["clone", [fork], "allowed"],
  ["clone", [thread], "allowed"],
  ["clone", [newUser | 17], "EPERM"],
  ...[0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x2000_0000, 0x4000_0000].map(
    (flag): [SystemCall, number[], Outcome] => ["clone", [flag | 17], "EPERM"],
  ),
  ["clone3", [0x1234, 88], "ENOSYS"],
  ["unshare", [0x400], "allowed"],
  ["unshare", [0x200], "allowed"],
  ["unshare", [newUser], "EPERM"],
  ["unshare", [newUser | 0x0002_0000], "EPERM"],
  ["unshare", [0x80], "EPERM"],
  ["setns", [3, 0], "EPERM"],
  ["mount", [0, 0, 0, 0x1000], "EPERM"],
  ["umount2", [0, 2], "EPERM"],
  ["open_tree", [0, 0, 1], "EPERM"],
  ["open_tree_attr", [0, 0, 1], "EPERM"],
  ["keyctl", [0], "EPERM"],
  ["bpf", [0], "EPERM"],
  ["io_uring_setup", [8, 0], "EPERM"],
  ["userfaultfd", [1], "EPERM"],
  ["perf_event_open", [0], "EPERM"],
  ["open_by_handle_at", [3, 0, 0], "EPERM"],
  ["kexec_load", [], "EPERM"],
  ["init_module", [], "EPERM"],
  ["reboot", [], "EPERM"],
  ["uselib", [0], "ENOSYS"],
  ["ioctl", [0, 0x5401], "allowed"],
  ["ioctl", [0, 0x5413], "allowed"],
  ["ioctl", [0, 0x5412], "EPERM"],
  ["ioctl", [0, 0x541c], "EPERM"],
  ["ioctl", [0, 0x5423], "EPERM"],
  ["personality", [0], "allowed"],
  ["personality", [0xffff_ffff], "allowed"],
  ["personality", [0x0004_0000], "allowed"],
  ["personality", [8], "allowed"],
  ["personality", [0x0040_0000], "EPERM"],
  ["personality", [0x0010_0000], "EPERM"],
  ["personality", [0x0044_0000], "EPERM"],
  ["personality", [6], "EPERM"],
  ["socket", [1, 1, 0], "allowed"],
  ["socket", [2, 1, 6], "allowed"],
  ["socket", [10, 2, 17], "allowed"],
  ["socket", [16, 3, 0], "allowed"],
  ["socket", [16, 3, 12], "EPROTONOSUPPORT"],
  ["socket", [16, 3, 9], "EPROTONOSUPPORT"],
  ["socket", [40, 1, 0], "EAFNOSUPPORT"],
  ["socket", [38, 5, 0], "EAFNOSUPPORT"],
  ["socket", [17, 3, 0], "EAFNOSUPPORT"],
  ["socket", [21, 5, 0], "EAFNOSUPPORT"],
  ["socketpair", [1, 1, 0], "allowed"],
  ["socketpair", [30, 1, 0], "EAFNOSUPPORT"],
  ["chmod", [0, 0o755], "allowed"],
  ["chmod", [0, 0o2775], "allowed"],
  ["chmod", [0, 0o4755], "EPERM"],
  ["fchmod", [3, 0o4711], "EPERM"],
  ["fchmodat", [3, 0, 0o6755], "EPERM"],
  ["fchmodat", [3, 0, 0o1777], "allowed"],
  ["fchmodat2", [3, 0, 0o4755, 0], "EPERM"],
  ["mknodat", [3, 0, 0o014_755], "EPERM"],
  ["mknodat", [3, 0, 0o010_644], "allowed"],
  ["openat", [3, 0, 0o101, 0o644], "allowed"],
  ["openat", [3, 0, 0o101, 0o4755], "EPERM"],
  ["openat", [3, 0, 0o20_200_001, 0o4755], "EPERM"],
  ["openat", [3, 0, 0, 0o7777], "allowed"],
  ["openat2", [3, 0, 0, 24], "ENOSYS"],
  ["setrlimit", [4, 0x1234], "SUCCESS"],
  ["setrlimit", [7, 0x1234], "allowed"],
  ["prlimit64", [0, 4, 0, 0x1234], "allowed"],
  ["prlimit64", [0, 4, 0x1234, 0], "SUCCESS"],
  ["prlimit64", [0, 4, 2 ** 32, 0], "SUCCESS"],
  ["prlimit64", [0, 4, 0x1234, 0x1234], "EPERM"],
  ["prlimit64", [0, 7, 0x1234, 0x1234], "allowed"],
  ["fallocate", [3, 0, 0, 4096], "EOPNOTSUPP"],
  ["fallocate", [3, 1, 0, 4096], "EOPNOTSUPP"],
  ["fallocate", [3, 0x10, 0, 4096], "EOPNOTSUPP"],
  ["fallocate", [3, 0x03, 0, 4096], "allowed"],
  ["fallocate", [3, 0x08, 0, 4096], "allowed"],
];

describe("the numbers", () => {
  const headers: [Architecture, string, RegExp][] = [
    ["x64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", /^#define __NR_(\w+)\s+(\d+)\s*$/gm],
    ["arm64", "/usr/include/asm-generic/unistd.h", /^#define __NR(?:3264)?_(\w+)\s+(\d+)\s*$/gm],
  ];
  test.each(headers)("of %s are those of the kernel's header (%s)", (architecture, header, line) => {
    if (!existsSync(header)) return console.warn(`SKIPPED: there is no ${header} to compare with.`);
    const listed = [...readFileSync(header, "utf8").matchAll(line)].map(
      ([, name, number]) => [name, Number(number)] as const,
    );
    const inHeader = new Map(listed.toReversed());
    const newest = Math.max(...inHeader.values());
    const wrong = systemCalls
      .map((call) => ({ call, ours: numberOf(call, architecture), theirs: inHeader.get(call) }))
      .filter(({ ours, theirs }) => ours !== theirs && !(theirs === undefined && (ours ?? 0) > newest));
    expect(wrong).toEqual([]);
  });
});

/** The policy, read in the plainest way there is. */
function judge(architecture: Architecture, at: Circumstances, number: number, given: readonly number[]): Outcome {
  const rule = refusals(at).find(
    ({ calls, when = [] }) =>
      calls.some((call) => numberOf(call, architecture) === number) && when.every((each) => holds(each, given)),
  );
  return rule?.answer ?? "allowed";
}

function holds(condition: Condition, given: readonly number[]): boolean {
  if ("above" in condition) return (given[condition.argument] ?? 0) > condition.above;
  const value = (given[condition.argument] ?? 0) >>> 0;
  if ("anyOf" in condition) return (value & condition.anyOf) !== 0;
  return "in" in condition ? condition.in.includes(value) : !condition.notIn.includes(value);
}

function* samples(architecture: Architecture): Generator<{ number: number; given: number[] }> {
  const values = [
    0, 1, 2, 10, 12, 16, 17, 40, 0x80, 0o101, 0o644, 0o2755, 0o4755, 0x5401, 0x5412, 0x541c, 0x0004_0000, 0x1000_0000,
    0x7e02_0000, 0xffff_ffff,
  ];
  for (const call of systemCalls) {
    const number = numberOf(call, architecture);
    if (number === undefined) continue;
    for (const a of values) for (const b of values) yield { number, given: [a, b, b, a] };
  }
}

function named(answer: number): Outcome {
  if (answer === answers.allow) return "allowed";
  if (answer === answers.endProcess) return "ended";
  const found = (Object.keys(errnos) as (keyof typeof errnos)[]).find((name) => answers.errno(name) === answer);
  if (found === undefined) throw new Error(`an answer nobody knows: ${answer}`);
  return found;
}
