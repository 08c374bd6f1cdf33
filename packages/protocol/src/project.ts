import * as z from "zod";
import { projectId } from "./id.ts";

export const registerProject = z.object({ path: z.string().min(1).max(4096) });
export type RegisterProject = z.infer<typeof registerProject>;

export const projectView = z.object({
  id: projectId,
  path: z.string(),
  name: z.string(),
  /** Whether the folder is there at the moment. */
  present: z.boolean(),
  seq: z.int(),
});
export type ProjectView = z.infer<typeof projectView>;

/** `worktree`: the folder of the project that was named: its own, or one of its linked worktrees. */
export const registeredProject = projectView.extend({ worktree: z.string() });
export type RegisteredProject = z.infer<typeof registeredProject>;

export const projectList = z.object({ projects: z.array(projectView) });
export type ProjectList = z.infer<typeof projectList>;

export const forgetAnswer = z.object({ kind: z.literal("forgotten") });
export type ForgetAnswer = z.infer<typeof forgetAnswer>;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A file with settings that a folder brings along. What it says counts only while its exact content is trusted. */
export const settingsFile = z.discriminatedUnion("state", [
  z.object({ state: z.literal("trusted"), path: z.string(), sha256, content: z.string() }),
  z.object({ state: z.literal("untrusted"), path: z.string(), sha256, content: z.string() }),
  z.object({ state: z.literal("unreadable"), path: z.string(), reason: z.string() }),
]);
export type SettingsFile = z.infer<typeof settingsFile>;

/** Those that are there. */
export const trustView = z.object({ project: projectId, files: z.array(settingsFile), seq: z.int() });
export type TrustView = z.infer<typeof trustView>;

/** Each file with the hash of the content that was shown, so that what was shown is what is trusted. */
export const trustFiles = z.object({ files: z.record(z.string().max(255), sha256) });
export type TrustFiles = z.infer<typeof trustFiles>;

/** The one that the folder belongs to; without a folder: all. */
export const findProjects = registerProject.partial();

/** What is asked for a project; without: for none in particular. */
export const ofProject = z.object({ project: projectId.optional() });
