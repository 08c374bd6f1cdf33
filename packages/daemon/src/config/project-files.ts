import { join } from "node:path";
import {
  projectConfigFiles,
  type ProjectId,
  type ProjectLayer,
  type ProjectView,
  type SettingsFile,
  type TrustView,
} from "@corral/protocol";
import type { By } from "../log/index.ts";
import type { FoundFile } from "./layers.ts";

/** What is asked of the projects: their folders, and what their owner trusts of the settings in them. */
export interface ProjectSettings {
  get(id: ProjectId): Promise<ProjectView | undefined>;
  list(): Promise<readonly ProjectView[]>;
  settings(id: ProjectId): Promise<TrustView>;
  writeSettings(id: ProjectId, layer: ProjectLayer, content: string, by: By): Promise<void>;
}

const layers = Object.keys(projectConfigFiles) as readonly ProjectLayer[];

/** The files of a project in the order of their layers. Throws `not-found`. */
export async function readProjectFiles(projects: ProjectSettings, id: ProjectId): Promise<readonly FoundFile[]> {
  const { files } = await projects.settings(id);
  const folder = (await projects.get(id))?.path ?? "";
  return layers.map((layer) => {
    const path = projectConfigFiles[layer];
    return { layer, file: join(folder, path), found: foundAs(files.find((file) => file.path === path)) };
  });
}

/** Where a project's files are, or would be. */
export function placesOf({ path }: ProjectView): readonly string[] {
  return layers.map((layer) => join(path, projectConfigFiles[layer]));
}

function foundAs(file: SettingsFile | undefined): FoundFile["found"] {
  switch (file?.state) {
    case undefined:
      return { kind: "absent" };
    case "trusted":
      return { kind: "text", text: file.content };
    case "untrusted":
      return { kind: "untrusted" };
    case "unreadable":
      return { kind: "unreadable", reason: file.reason };
  }
}
