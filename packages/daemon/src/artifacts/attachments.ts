import {
  attachableAs,
  type Attachment,
  type AttachFile,
  CorralError,
  type SessionId,
  type TraceId,
} from "@corral/protocol";
import { mustHoldNoSecret, type Secrets } from "../secrets/index.ts";
import type { Artifacts } from "./port.ts";

/**
 * Keeps a file that is to come with something said to a session. Its bytes are stored when it resolves; what is said names
 * them. Throws `file.unsuitable` for what no model could be shown, `request.secret` for a text with a secret in it, `storage.full` where the
 * artifacts' quota leaves no room.
 */
export async function attach(
  { artifacts, secrets }: { readonly artifacts: Pick<Artifacts, "begin">; readonly secrets: Secrets },
  session: SessionId,
  { name, base64 }: AttachFile,
  traceId?: TraceId,
): Promise<Attachment> {
  const bytes = Buffer.from(base64, "base64");
  const as = attachableAs(bytes);
  if ("refused" in as) throw new CorralError("file.unsuitable", `${name} ${as.refused}.`, { hint: as.hint });
  if (!as.mediaType.startsWith("image/")) mustHoldNoSecret(bytes.toString(), secrets);
  const trace = traceId === undefined ? {} : { traceId };
  const growing = await artifacts.begin({ owner: session, name, kind: "attachment", ...trace });
  await growing.append(bytes);
  const { leftOut } = await growing.finish();
  if (leftOut !== undefined) throw noRoom(name, leftOut.because);
  return { name, mediaType: as.mediaType, reference: `artifact:${growing.id}` };
}

function noRoom(name: string, because: string): CorralError {
  return new CorralError("storage.full", `There is no room for ${name}: ${because}.`, {
    hint: "The settings artifacts.maxBytes and artifacts.sessionMaxBytes say how much there is",
  });
}
