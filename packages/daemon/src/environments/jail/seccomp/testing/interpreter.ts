import { opcodes } from "../program.ts";

/** What the kernel tells a program about a call. Arguments have 64 bits. */
export interface Call {
  readonly architecture: number;
  readonly number: number;
  readonly arguments?: readonly bigint[];
}

/** Runs a program as the kernel would, and refuses what the kernel's verifier would refuse. */
export function interpret(program: Buffer, call: Call): number {
  const data = describe(call);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const [code, jt, jf] = [program.readUInt16LE(at * 8), program[at * 8 + 2]!, program[at * 8 + 3]!];
    const k = program.readUInt32LE(at * 8 + 4);
    const branch = (holds: boolean) => (at += holds ? jt : jf);
    switch (code) {
      case opcodes.load:
        if (k % 4 !== 0 || k >= data.length) throw new Error(`a load from ${k}`);
        accumulator = data.readUInt32LE(k);
        break;
      case opcodes.jump:
        at += k;
        break;
      case opcodes.ifEqual:
        branch(accumulator === k);
        break;
      case opcodes.ifGreater:
        branch(accumulator > k);
        break;
      case opcodes.ifAtLeast:
        branch(accumulator >= k);
        break;
      case opcodes.ifAnyBit:
        branch((accumulator & k) !== 0);
        break;
      case opcodes.answer:
        return k;
      default:
        throw new Error(`unknown instruction ${code}`);
    }
  }
  throw new Error("the program ran past its end");
}

function describe({ architecture, number, arguments: given = [] }: Call): Buffer {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [index, argument] of given.entries()) data.writeBigUInt64LE(BigInt.asUintN(64, argument), 16 + 8 * index);
  return data;
}
