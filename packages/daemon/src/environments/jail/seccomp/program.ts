import { type Circumstances, type Condition, type Errno, errnos, type Refusal, refusals } from "./policy.ts";
import { type Architecture, newestKnown, numberOf, type SystemCall } from "./syscalls.ts";

/**
 * The policy as a program of classic BPF, in the bytes that the kernel takes. A program for another kind of processor
 * ends its process, since its calls have other numbers; so do 32-bit programs. Numbers that nobody knew when this was
 * written are answered as by a kernel that does not have them.
 */
export function seccompProgram(architecture: Architecture, circumstances: Circumstances): Buffer {
  return encode(compile(architecture, refusals(circumstances)));
}

export interface Instruction {
  readonly code: number;
  /** How many instructions to skip when the comparison holds, and when not. */
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

export const opcodes = {
  /** Loads the word at `k` of what is known about the call. */
  load: 0x20,
  jump: 0x05,
  ifEqual: 0x15,
  ifGreater: 0x25,
  ifAtLeast: 0x35,
  ifAnyBit: 0x45,
  answer: 0x06,
} as const;

/** Where things are in what the kernel tells about a call (`struct seccomp_data`). */
const offsets = { number: 0, architecture: 4, argument: (index: number) => 16 + 8 * index } as const;

export const auditArchitectures: Record<Architecture, number> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };

export const answers = {
  allow: 0x7fff_0000,
  endProcess: 0x8000_0000,
  errno: (name: Errno) => 0x0005_0000 + errnos[name],
} as const;

/** Calls of x86-64's second way of being 32-bit have this bit. */
const x32 = 0x4000_0000;

function compile(architecture: Architecture, policy: readonly Refusal[]): Instruction[] {
  const head = [
    load(offsets.architecture),
    ...unless({ code: opcodes.ifEqual, k: auditArchitectures[architecture] }, [give(answers.endProcess)]),
    load(offsets.number),
    ...(architecture === "x64" ? when({ code: opcodes.ifAtLeast, k: x32 }, [give(answers.errno("ENOSYS"))]) : []),
    ...when({ code: opcodes.ifGreater, k: newestKnown }, [give(answers.errno("ENOSYS"))]),
  ];
  // Those that depend on arguments first: the kernel remembers by number which calls are let through in any case.
  const conditional = [...byNumber(architecture, policy)].flatMap(([number, rules]) => decide(number, rules));
  const errors = Object.keys(errnos) as Errno[];
  return [
    ...head,
    ...conditional,
    ...errors.flatMap((errno) => refuseAll(numbersRefused(architecture, policy, errno), errno)),
    give(answers.allow),
  ];
}

interface ConditionalRefusal extends Refusal {
  readonly when: readonly Condition[];
}

function byNumber(architecture: Architecture, policy: readonly Refusal[]): Map<number, ConditionalRefusal[]> {
  const found = new Map<number, ConditionalRefusal[]>();
  for (const rule of policy.filter((rule): rule is ConditionalRefusal => rule.when !== undefined)) {
    for (const number of known(rule.calls, architecture)) found.set(number, [...(found.get(number) ?? []), rule]);
  }
  return found;
}

function decide(number: number, rules: readonly ConditionalRefusal[]): Instruction[] {
  const refused = rules.flatMap((rule) => allHold(rule.when, [give(answers.errno(rule.answer))]));
  return when({ code: opcodes.ifEqual, k: number }, [...refused, give(answers.allow)]);
}

/** Each condition skips the rest of its rule when it does not hold. */
function allHold([condition, ...others]: readonly Condition[], then: Instruction[]): Instruction[] {
  if (condition === undefined) return then;
  const rest = allHold(others, then);
  const lower = load(offsets.argument(condition.argument));
  if (!("above" in condition)) return [lower, ...tests(condition, rest.length), ...rest];
  const isAbove = { code: opcodes.ifGreater, jt: 0, jf: skip(rest), k: condition.above };
  const upper = load(offsets.argument(condition.argument) + 4);
  return [upper, ...when({ code: opcodes.ifEqual, k: 0 }, [lower, isAbove]), ...rest];
}

function tests(condition: Exclude<Condition, { above: number }>, rest: number): Instruction[] {
  if ("anyOf" in condition) return [{ code: opcodes.ifAnyBit, jt: 0, jf: short(rest), k: condition.anyOf }];
  if ("notIn" in condition) return condition.notIn.map((k, i, all) => equal(k, all.length - 1 - i + rest));
  // The last one that could be equal skips the rest when it is not; the others jump to its start.
  const last = condition.in.length - 1;
  return condition.in.map((k, i) => ({ code: opcodes.ifEqual, jt: last - i, jf: i === last ? short(rest) : 0, k }));
}

function refuseAll(numbers: readonly number[], errno: Errno): Instruction[] {
  if (numbers.length === 0) return [];
  const matches = numbers.map((number, i) => equal(number, numbers.length - i));
  return [...matches, { code: opcodes.jump, jt: 0, jf: 0, k: 1 }, give(answers.errno(errno))];
}

function numbersRefused(architecture: Architecture, policy: readonly Refusal[], errno: Errno): number[] {
  const rules = policy.filter((rule) => rule.when === undefined && rule.answer === errno);
  return rules.flatMap(({ calls }) => known(calls, architecture));
}

function known(calls: readonly SystemCall[], architecture: Architecture): number[] {
  return calls.map((call) => numberOf(call, architecture)).filter((number) => number !== undefined);
}

type Test = Pick<Instruction, "code" | "k">;

function when(test: Test, then: Instruction[]): Instruction[] {
  return [{ ...test, jt: 0, jf: skip(then) }, ...then];
}

function unless(test: Test, then: Instruction[]): Instruction[] {
  return [{ ...test, jt: skip(then), jf: 0 }, ...then];
}

function equal(k: number, jt: number): Instruction {
  return { code: opcodes.ifEqual, jt: short(jt), jf: 0, k };
}

function load(k: number): Instruction {
  return { code: opcodes.load, jt: 0, jf: 0, k };
}

function give(k: number): Instruction {
  return { code: opcodes.answer, jt: 0, jf: 0, k };
}

function skip(instructions: readonly Instruction[]): number {
  return short(instructions.length);
}

function short(distance: number): number {
  if (distance > 255) throw new Error(`a jump over ${distance} instructions is too far for BPF`);
  return distance;
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, { code, jt, jf, k }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jt, index * 8 + 2);
    bytes.writeUInt8(jf, index * 8 + 3);
    bytes.writeUInt32LE(k, index * 8 + 4);
  }
  return bytes;
}
