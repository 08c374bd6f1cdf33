import { type ArtifactId, type CallId, CorralError } from "@corral/protocol";
import type { Caller } from "../capabilities/port.ts";
import type { OutputPlace } from "../environments/index.ts";

export interface OutputNamed {
  /** What ran: unique in all sessions and the same after a crash, so that the same output is the same artifact. */
  readonly of: string;
  readonly name: string;
  readonly stream: "stdout" | "stderr";
  readonly callId?: CallId;
}

/** An output's place among the session's artifacts. */
export function artifactPlace(daemon: Caller, { of, name, stream, callId }: OutputNamed): OutputPlace {
  const id = artifactOf(of, stream === "stdout" ? "o" : "e");
  const call = callId === undefined ? {} : { callId };
  return {
    begin: () =>
      daemon.call("artifacts.keep", { step: "begin", id, name: `${name}.${stream}.txt`, kind: stream, ...call }),
    append: (bytes) => daemon.call("artifacts.keep", { step: "append", id, bytes }),
    finish: () => daemon.call("artifacts.keep", { step: "finish", id }),
  };
}

/** Keeps an image that a call shows, whole or not at all. */
export async function keepImage(
  daemon: Caller,
  { of, callId }: Pick<OutputNamed, "of" | "callId">,
  bytes: Buffer,
  mediaType: string,
): Promise<ArtifactId> {
  const id = artifactOf(of, "i");
  const call = callId === undefined ? {} : { callId };
  const name = `${of}.${mediaType.replace(/^image\//, "")}`;
  // Begun by an attempt of the same name that broke off, it has its beginning already.
  const { bytes: there } = await daemon.call("artifacts.keep", { step: "begin", id, name, kind: "image", ...call });
  for (let at = there; at < bytes.length; at += pieceBytes)
    await daemon.call("artifacts.keep", { step: "append", id, bytes: bytes.subarray(at, at + pieceBytes) });
  const { leftOut } = await daemon.call("artifacts.keep", { step: "finish", id });
  if (leftOut === undefined) return id;
  throw new CorralError("call.refused", `There is no room to keep the image: ${leftOut.because}.`);
}

/** Steps travel between processes: none is to hold up the others for long. */
const pieceBytes = 256 * 1024;

function artifactOf(of: string, letter: string): ArtifactId {
  return `art_${of.replace(/^[a-z]+_/, "").replaceAll(/[^0-9a-z]/g, "")}${letter}`;
}
