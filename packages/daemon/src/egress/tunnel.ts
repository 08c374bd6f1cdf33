import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { serverNameIn } from "./client-hello.ts";
import type { Connection } from "./ledger.ts";
import type { Deadlines } from "./proxy.ts";

/** How much of a greeting is looked at for its server's name. */
const greetingBytes = 16_384;

/** Joins the two; what comes from one goes to the other, until both have ended or one is gone. */
export function join(
  inside: Duplex,
  outside: Socket,
  { head, connection, deadlines }: { head: Buffer; connection: Connection; deadlines: Deadlines },
): void {
  const ends = [inside as Socket, outside];
  const breakOff = () => ends.forEach((end) => end.destroy());
  for (const end of ends) {
    end.setTimeout(deadlines.idleMs, breakOff);
    end.on("error", breakOff);
    end.once("close", breakOff);
    end.once("end", () => ends.forEach((each) => each.setTimeout(deadlines.halfOpenMs)));
  }
  listenForName(inside, head, (name) => connection.called(name));
  if (head.length > 0) outside.write(head);
  inside.pipe(outside).pipe(inside);
}

function listenForName(inside: Duplex, head: Buffer, onName: (name: string) => void): void {
  let greeting = head;
  const look = (chunk: Buffer) => {
    greeting = Buffer.concat([greeting, chunk]);
    const name = serverNameIn(greeting);
    if (name !== undefined) onName(name);
    const isOver = name !== undefined || greeting.length > greetingBytes || greeting[0] !== 22;
    if (isOver) inside.off("data", look);
  };
  inside.on("data", look);
  if (head.length > 0) look(Buffer.alloc(0));
}
