import type { ArtifactId, CallId } from "@corral/protocol";
import type { OutputPlace } from "../environments/index.ts";
import type { Desk } from "./port.ts";

export interface OutputNamed {
  /** What ran: unique in all sessions and the same after a crash, so that the same output is the same artifact. */
  readonly of: string;
  readonly name: string;
  readonly stream: "stdout" | "stderr";
  readonly callId?: CallId;
}

/** An output's place among the session's artifacts. */
export function artifactPlace(desk: Pick<Desk, "keep">, { of, name, stream, callId }: OutputNamed): OutputPlace {
  const id: ArtifactId = `art_${of.replace(/^[a-z]+_/, "").replaceAll(/[^0-9a-z]/g, "")}${stream === "stdout" ? "o" : "e"}`;
  const call = callId === undefined ? {} : { callId };
  return {
    begin: () => desk.keep({ step: "begin", id, name: `${name}.${stream}.txt`, kind: stream, ...call }),
    append: (bytes) => desk.keep({ step: "append", id, bytes }),
    finish: () => desk.keep({ step: "finish", id }),
  };
}
