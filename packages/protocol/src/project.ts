import * as z from "zod";
import { projectId } from "./id.ts";

export const registerProject = z.object({ path: z.string().min(1).max(4096) });
export type RegisterProject = z.infer<typeof registerProject>;

export const projectView = z.object({ id: projectId, path: z.string(), name: z.string(), seq: z.int() });
export type ProjectView = z.infer<typeof projectView>;

export const projectList = z.object({ projects: z.array(projectView) });
export type ProjectList = z.infer<typeof projectList>;
