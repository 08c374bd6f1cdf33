import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ArtifactId } from "@corral/protocol";
import type { ArtifactOwner } from "./port.ts";

/** Where artifacts are files. Names come from ids of a strict shape and from letters that mean nothing to a file system. */
export class Place {
  readonly folder: string;

  constructor(home: string) {
    this.folder = join(home, "artifacts");
  }

  folderOf(owner: ArtifactOwner): string {
    return join(this.folder, owner);
  }

  pathOf({ owner, id, name }: Named): string {
    return join(this.folderOf(owner), fileName(id, name));
  }

  urlOf(artifact: Named): string {
    return pathToFileURL(this.pathOf(artifact)).href;
  }
}

export interface Named {
  readonly owner: ArtifactOwner;
  readonly id: ArtifactId;
  readonly name: string;
}

export function fileName(id: ArtifactId, name: string): string {
  return `${id}-${name.replaceAll(/[^\w.-]+/g, "_").slice(-100)}`;
}
