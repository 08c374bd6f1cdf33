import * as z from "zod";
import { artifactId, callId, sessionId, shellId } from "./id.ts";

/**
 * What came out of work as a file: a command's standard output or errors, what a terminal showed, an image that the agent looked at; or
 * what came along with something said to it.
 */
export const artifactKind = z.enum(["stdout", "stderr", "scrollback", "image", "attachment"]);
export type ArtifactKind = z.infer<typeof artifactKind>;

/** Bytes that are not in an artifact, and what was in their way. */
const leftOut = z.object({
  bytes: z.int().positive(),
  because: z.enum(["session quota", "quota", "disk"]),
});
export type LeftOut = z.infer<typeof leftOut>;

/** It begins, or goes on after it was kept. Until it is kept the file grows, without another event. */
export const artifactAnnounced = z.object({
  id: artifactId,
  name: z.string(),
  kind: artifactKind,
  /** The file, for whoever is on the machine; the same for as long as there is one. */
  url: z.string(),
  /** The call that it comes of. */
  callId: callId.optional(),
});

/** It is final, and its bytes are stored. */
export const artifactKept = z.object({
  id: artifactId,
  /** SHA-256. */
  digest: z.string(),
  bytes: z.int().nonnegative(),
  leftOut: leftOut.optional(),
});

/** Its bytes are no more. */
export const artifactExpired = z.object({ id: artifactId, because: z.enum(["age"]) });

export const artifactView = z.object({
  id: artifactId,
  /** Whose work it comes from. */
  owner: z.union([sessionId, shellId]),
  name: z.string(),
  kind: artifactKind,
  state: z.enum(["growing", "kept", "expired"]),
  url: z.string(),
  callId: callId.optional(),
  /** As it is now, when it grows. */
  bytes: z.int().nonnegative(),
  leftOut: leftOut.optional(),
  digest: z.string().optional(),
  approximateCreationTime: z.string(),
});
export type ArtifactView = z.infer<typeof artifactView>;

export const artifactList = z.object({ artifacts: z.array(artifactView) });
export type ArtifactList = z.infer<typeof artifactList>;

/** An artifact as a result names it. */
export const artifactNamed = z.object({
  id: artifactId,
  url: z.string(),
  bytes: z.int().nonnegative(),
  leftOut: leftOut.optional(),
});
export type ArtifactNamed = z.infer<typeof artifactNamed>;
