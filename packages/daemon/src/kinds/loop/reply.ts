import { costOf, event, newId, type PartId } from "@corral/protocol";
import { fault } from "../../faults/index.ts";
import type { Found, ModelRequest, ProviderMetadata, ReplyPiece } from "../../providers/index.ts";
import type { Turn } from "../../sessions/index.ts";
import type { Desk } from "../port.ts";
import type { TurnCalls } from "./turn-calls.ts";

/** Takes one reply in: deltas go out live, whole parts are recorded, calls start as soon as they are complete. */
export async function listen(
  desk: Desk,
  turn: Turn,
  { provider, facts }: Found,
  request: ModelRequest,
  calls: TurnCalls,
): Promise<void> {
  const open = new Map<string, GrowingPart>();
  try {
    for await (const piece of provider.ask(request, desk.signal)) {
      if (piece.kind === "call") calls.take(piece);
      else if (piece.kind === "finish") {
        calls.endReply();
        const { reason: finish, usage } = piece;
        const costUsd = costOf(usage, facts?.prices);
        const model = desk.history.settings?.model ?? "";
        const price = costUsd === undefined ? {} : { costUsd };
        desk.record(event("turn.replied", { id: turn.id, finish, usage, model, ...price }));
      } else grow(desk, turn, open, piece);
    }
  } finally {
    for (const part of open.values()) say(desk, turn, part, { cut: true });
    calls.endReply();
    await calls.rest();
  }
}

interface GrowingPart {
  readonly id: PartId;
  readonly kind: "text" | "reasoning";
  text: string;
}

function grow(
  desk: Desk,
  turn: Turn,
  open: Map<string, GrowingPart>,
  piece: Exclude<ReplyPiece, { kind: "call" | "finish" }>,
): void {
  if (piece.kind === "begin") {
    open.set(piece.part, { id: newId("part"), kind: piece.of, text: "" });
    return;
  }
  const part = open.get(piece.part);
  if (part === undefined) return;
  if (piece.kind === "delta") {
    const { id, kind, text } = part;
    desk.emit({ kind, session: desk.session, part: id, offset: text.length, text: piece.text });
    part.text += piece.text;
    fault("turn.streaming");
    return;
  }
  open.delete(piece.part);
  say(desk, turn, part, piece.providerMetadata === undefined ? {} : { providerMetadata: piece.providerMetadata });
}

function say(
  desk: Desk,
  turn: Turn,
  { id: part, kind, text }: GrowingPart,
  more: { cut?: boolean; providerMetadata?: ProviderMetadata },
): void {
  desk.record(event("turn.said", { id: turn.id, part, kind, text, ...more }));
}
