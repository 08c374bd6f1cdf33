import { type ArtifactId, CorralError, type TerminalId } from "@corral/protocol";
import type { Artifacts } from "../artifacts/index.ts";
import type { TerminalPlace } from "./held.ts";

/** What was on terminals that have ended, as text. */
export interface Scrollbacks {
  /** Returns the address of a file with it, which is there when this resolves, whole. Can be repeated after a crash. */
  write(of: TerminalPlace, id: TerminalId, text: string): Promise<string>;
  /** Undefined when it is no longer kept. */
  read(id: TerminalId): Promise<string | undefined>;
}

/** Each is an artifact of the shell or session, with an id that the terminal's tells. */
export function keepScrollbacks(artifacts: Pick<Artifacts, "begin" | "read">): Scrollbacks {
  return {
    async write(owner, terminal, text) {
      const growing = await artifacts.begin({
        owner,
        id: artifactOf(terminal),
        name: `${terminal}.txt`,
        kind: "scrollback",
      });
      const { bytes, leftOut } = growing.now;
      await growing.append(Buffer.from(text).subarray(bytes + (leftOut?.bytes ?? 0)));
      return (await growing.finish()).url;
    },
    async read(terminal) {
      try {
        const pieces = await Array.fromAsync(artifacts.read(artifactOf(terminal)));
        return Buffer.concat(pieces).toString("utf8");
      } catch (error) {
        if (error instanceof CorralError && (error.code === "not-found" || error.code === "artifact.expired"))
          return undefined;
        throw error;
      }
    },
  };
}

function artifactOf(terminal: TerminalId): ArtifactId {
  return terminal.replace(/^trm_/, "art_") as ArtifactId;
}
