import type { JailUser } from "../walled/index.ts";

/**
 * A program that becomes another user for good and then the program that its arguments name. `setpriv` does the same, and takes a tenth of a jail's
 * start to load and to look for users: this one is a page without a library. What each jail begins with has to be small enough to be read here.
 *
 * 1. Every step that fails ends it: nothing runs with more than was meant.
 * 2. Afterwards there are no groups, no capabilities, whether held, handed on or to be had, and no way back.
 *
 * Undefined: not for this kind of processor.
 */
export function becomeProgram({ uid, gid }: Ids, processor: string = process.arch): Buffer | undefined {
  return processor === "x64" ? elf([...dropBounds(), ...becomeUser(uid, gid), ...runArguments()]) : undefined;
}

type Ids = Pick<JailUser, "uid" | "gid">;

/** Numbers of system calls and their arguments, as the kernel has them for x86-64. */
const calls = { execve: 59, setgroups: 116, setresuid: 117, setresgid: 119, capset: 126, prctl: 157, exitGroup: 231 };
const options = { readBound: 23, dropBound: 24, noNewPrivileges: 38 };
const einval = 22;
const refusedCode = 126;

/** Something that is put together when it is known where it will be. */
type Part = readonly number[] | { readonly jump: readonly number[]; readonly to: Label } | { readonly label: Label };
type Label = "bound" | "bounded" | "failed";

/** Each capability that the kernel knows: it says so when there are no more. */
function dropBounds(): Part[] {
  const clear = [0x31, 0xdb, 0x31, 0xd2, 0x45, 0x31, 0xd2, 0x45, 0x31, 0xc0]; // ebx, edx, r10d and r8d to 0
  const nextInEsi = [0x89, 0xde]; // mov esi, ebx
  return [
    clear,
    { label: "bound" },
    [...set("edi", options.readBound), ...nextInEsi, ...systemCall(calls.prctl), 0x83, 0xf8, -einval & 0xff], // cmp eax, -einval
    { jump: [0x0f, 0x84], to: "bounded" }, // je
    [...set("edi", options.dropBound), ...nextInEsi, ...systemCall(calls.prctl), ...test],
    orFail,
    [0xff, 0xc3], // inc ebx
    { jump: [0xe9], to: "bound" }, // jmp
    { label: "bounded" },
  ];
}

function becomeUser(uid: number, gid: number): Part[] {
  return [
    ...must(calls.prctl, options.noNewPrivileges, 1, 0),
    ...must(calls.setgroups, 0, 0),
    ...must(calls.setresgid, gid, gid, gid),
    ...must(calls.setresuid, uid, uid, uid),
    ...must(calls.capset, capabilitiesAt, capabilitiesAt + 8),
  ];
}

/** What comes back has failed. */
function runArguments(): Part[] {
  return [
    [0x48, 0x8d, 0x74, 0x24, 0x10], // lea rsi, [rsp + 16]: the arguments without the first
    [0x48, 0x8b, 0x3e], // mov rdi, [rsi]
    [0x48, 0x8b, 0x0c, 0x24], // mov rcx, [rsp]: how many there are
    [0x48, 0x8d, 0x54, 0xcc, 0x10], // lea rdx, [rsp + 8 * rcx + 16]: the environment
    systemCall(calls.execve),
    { label: "failed" },
    [...set("edi", refusedCode), ...systemCall(calls.exitGroup)],
  ];
}

function must(call: number, ...values: readonly number[]): Part[] {
  const registers = ["edi", "esi", "edx"] as const;
  return [[...values.flatMap((value, index) => set(registers[index]!, value)), ...systemCall(call), ...test], orFail];
}

/** The upper half becomes 0 with it. */
function set(register: keyof typeof moves, value: number): number[] {
  return [moves[register], ...bytes32(value)];
}

const moves = { eax: 0xb8, edx: 0xba, esi: 0xbe, edi: 0xbf };

function systemCall(number: number): number[] {
  return [...set("eax", number), 0x0f, 0x05];
}

const test = [0x85, 0xc0]; // test eax, eax
const orFail: Part = { jump: [0x0f, 0x85], to: "failed" }; // jnz

function bytes32(value: number): number[] {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32LE(value | 0);
  return [...buffer];
}

const base = 0x40_0000;
const headerBytes = 64;
const segmentBytes = 56;
/** What `capset` is given, behind the headers: its version, this process, and none in each of the sets. */
const capabilities = [...bytes32(0x2008_0522), ...bytes32(0), ...Array.from({ length: 24 }, () => 0)];
const capabilitiesAt = base + headerBytes + 2 * segmentBytes;
const codeAt = capabilitiesAt + capabilities.length;

/** One segment that is read and run, and a stack that is not run. */
function elf(parts: readonly Part[]): Buffer {
  const code = assemble(parts);
  const size = codeAt - base + code.length;
  const header = Buffer.alloc(headerBytes);
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(header);
  header.writeUInt16LE(2, 16); // runs where it says
  header.writeUInt16LE(62, 18); // on x86-64
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(codeAt), 24);
  header.writeBigUInt64LE(BigInt(headerBytes), 32);
  header.writeUInt16LE(headerBytes, 52);
  header.writeUInt16LE(segmentBytes, 54);
  header.writeUInt16LE(2, 56);
  const all = segment({ type: 1, flags: 5, at: base, size, align: 0x1000 });
  const stack = segment({ type: 0x6474_e551, flags: 6, at: 0, size: 0, align: 16 });
  return Buffer.concat([header, all, stack, Buffer.from(capabilities), code]);
}

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly at: number;
  readonly size: number;
  readonly align: number;
}

function segment({ type, flags, at, size, align }: Segment): Buffer {
  const written = Buffer.alloc(segmentBytes);
  written.writeUInt32LE(type, 0);
  written.writeUInt32LE(flags, 4);
  for (const offset of [16, 24]) written.writeBigUInt64LE(BigInt(at), offset);
  for (const offset of [32, 40]) written.writeBigUInt64LE(BigInt(size), offset);
  written.writeBigUInt64LE(BigInt(align), 48);
  return written;
}

/** A jump is told how far it is from its own end. */
function assemble(parts: readonly Part[]): Buffer {
  const labels = new Map<Label, number>();
  const ends: number[] = [];
  let end = 0;
  for (const part of parts) {
    if ("label" in part) labels.set(part.label, end);
    else end += "jump" in part ? part.jump.length + 4 : part.length;
    ends.push(end);
  }
  const written = parts.map((part, index) => {
    if ("label" in part) return [];
    return "jump" in part ? [...part.jump, ...bytes32(labels.get(part.to)! - ends[index]!)] : part;
  });
  return Buffer.from(written.flat());
}
