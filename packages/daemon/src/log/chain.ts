/**
 * The chain: a hash for each event that follows from the event and from the hash before, so that a log in which anything was
 * changed, removed, inserted or moved by hand no longer adds up, and one hash kept elsewhere vouches for all before it.
 *
 *   facts = H(salt, type, typeVersion, traceId, data)       what erasing makes unreadable
 *   whole = H(stream, version, actor, time, facts)          what trimming removes
 *   link  = H(previous link, seq, whole)
 *
 * Of an erased event `facts` is kept, of a trimmed one `whole`, so the chain still adds up. The salt is the stream's and goes
 * when the stream is erased: from what is left nobody can find out, by trying, what the facts were.
 *
 * A link is made in the transaction that stores its event: made later, in the background, it would cost the same and leave the newest
 * events without one.
 */
import { hash } from "node:crypto";

/** The link before the first. */
export const genesis = "0".repeat(43);

/** An event as it is stored, not lifted, with its data as the JSON that was written. */
export interface WrittenEvent {
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  readonly typeVersion: number;
  readonly data: string;
  readonly actor: string;
  readonly traceId: string | null;
  readonly time: string;
}

/** What the store has at each place of the chain, in the order of seqs. */
export type ChainRecord =
  /** Events up to this seq are older than the chain; `link` is what it begins with. */
  | { readonly kind: "begin"; readonly seq: number; readonly link: string }
  /** Seqs that were never given here: another log had them. `holds`: how many events or links are there all the same. */
  | { readonly kind: "skip"; readonly from: number; readonly to: number; readonly holds: number }
  | {
      readonly kind: "place";
      readonly seq: number;
      /** Undefined: the chain knows of no event here. */
      readonly link: string | undefined;
      /** Of an erased event its facts' hash, of a trimmed one that of all of it. */
      readonly kept: string | undefined;
      /** Undefined: it is not there. */
      readonly event: WrittenEvent | undefined;
      /** The stream's, as long as it is not erased. */
      readonly salt: string;
    };

export function factsHash(salt: string, { type, typeVersion, traceId, data }: WrittenEvent): string {
  return sha256(`${JSON.stringify([salt, type, typeVersion, traceId])}${data}`);
}

export function wholeHash({ stream, version, actor, time }: WrittenEvent, facts: string): string {
  return sha256(JSON.stringify([stream, version, actor, time, facts]));
}

export function linkAfter(previous: string, seq: number, whole: string): string {
  return sha256(`${previous} ${seq} ${whole}`);
}

/** How a link is told to people, who keep it elsewhere. */
export function headText(seq: number, link: string): string {
  return `${seq}:${link}`;
}

/** Undefined for what is no head. */
export function readHead(text: string): { readonly seq: number; readonly link: string } | undefined {
  const [, seq, link] = /^(\d{1,15}):([\w-]{43})$/.exec(text.trim()) ?? [];
  return seq === undefined || link === undefined ? undefined : { seq: Number(seq), link };
}

function sha256(text: string): string {
  return hash("sha256", text, "base64url");
}
