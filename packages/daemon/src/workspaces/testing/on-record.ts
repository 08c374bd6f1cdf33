import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { event, newId, type ProjectId, type SessionId } from "@corral/protocol";
import { ownerOf } from "../../environments/index.ts";
import { jailOwner, ownersIn } from "../../environments/jail/index.ts";
import type { Log } from "../../log/index.ts";
import type { NewOwner } from "../copy.ts";
import { workspaceFolder } from "../folder.ts";
import { openInPlace } from "../in-place.ts";
import { prepareWorkspace, type WorkspaceWish } from "../prepare.ts";

export const by = { actor: "person:test" };

export async function registerProject(log: Log, repo: string): Promise<ProjectId> {
  const id = newId("project");
  await log.append({ stream: id, ...by, events: [event("project.registered", { id, path: repo, name: "repo" })] });
  return id;
}

/** A session with a real workspace, which nobody runs anything in but the test. Tells the workspace's folder. */
export async function beginSession(log: Log, { home, repo, project, id, how = {} }: BeginWish): Promise<string> {
  const environment = { kind: "jail", network: "off" } as const;
  const workspace = how === "in place" ? "in-place" : "copy";
  const settings = { title: "", model: "a/b", mode: "auto", environment, workspace, turnLimit: 9 } as const;
  const branch = `corral/${id}`;
  const wish = { repo, destination: workspaceFolder(home, id), branch, newOwner: ownersIn(home) };
  const prepared =
    how === "in place"
      ? await openInPlace(repo, { branch, mayBeRoots: true })
      : await prepareWorkspace({ ...wish, ...how });
  const { path, base, head, readable, variables, way } = prepared;
  const events = [
    event("session.created", { projectId: project, ...settings }),
    event("workspace.prepared", {
      ...{ path, branch, base, way, readable: [...readable], variables: { ...variables } },
      ...(head === base ? {} : { head }),
    }),
  ];
  await log.append({ stream: id, ...by, events });
  return path;
}

export interface BeginWish {
  readonly home: string;
  readonly repo: string;
  readonly project: ProjectId;
  readonly id: SessionId;
  readonly how?: "in place" | Partial<WorkspaceWish>;
}

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  // Whoever works there is not who tests.
  const owner = ownerOf(folder);
  if (owner !== undefined) execFileSync("chown", ["-R", "-h", `${owner.uid}:${owner.gid}`, folder]);
}

/** As in copies of earlier versions: all belong to one user. */
export function sharedOwner(): NewOwner | undefined {
  const owner = jailOwner();
  return owner && (() => Promise.resolve(owner));
}

/** Rows that other slices keep, as far as this one looks at them. */
export const rowsOfOthers = [
  {
    table: "projects",
    version: 1,
    columns: { path: "text" },
    changes: ({ type, stream, data }: { type: string; stream: string; data: unknown }) =>
      type === "project.registered" ? [{ key: stream, set: { path: (data as { path: string }).path } }] : [],
  },
  {
    table: "sessions",
    version: 1,
    columns: { open: "integer" },
    indexes: [["open"]],
    changes: ({ type, stream }: { type: string; stream: string }) =>
      type === "activity.opened" || type === "activity.settled"
        ? [{ key: stream, set: { open: type === "activity.opened" ? 1 : 0 } }]
        : [],
  },
] as const;
