import type { ProjectId, SessionId, StoredEvent } from "@corral/protocol";
import type { Log } from "../log/port.ts";
import { isFullAdmin, type Principal } from "./principal.ts";

/** What of the log a principal may see, told without waiting: streams ask it for every event. */
export interface Sight {
  session(who: Principal, id: string): boolean;
  project(who: Principal, id: string): boolean;
  /** Of events, by the stream they are in. */
  stream(who: Principal, stream: string): boolean;
  projectOf(session: string): ProjectId | undefined;
  close(): void;
}

interface ListsSessions {
  list(): Promise<readonly { readonly id: SessionId; readonly projectId: ProjectId }[]>;
}

export async function openSight(log: Pick<Log, "onCommit">, sessions: ListsSessions): Promise<Sight> {
  const projects = new Map<string, ProjectId>();
  const note = (stored: StoredEvent) => {
    if (stored.type === "session.created") projects.set(stored.stream, stored.data.projectId);
  };
  const close = log.onCommit((events) => events.forEach(note));
  for (const { id, projectId } of await sessions.list()) projects.set(id, projectId);

  const session = (who: Principal, id: string) =>
    (who.session === undefined || who.session === id) &&
    (who.project === undefined || who.project === projects.get(id));
  const project = (who: Principal, id: string) =>
    who.session === undefined && (who.project === undefined || who.project === id);
  return {
    session,
    project,
    stream(who, stream) {
      if (isFullAdmin(who)) return true;
      if (isSession(stream)) return session(who, stream);
      return isProject(stream) && project(who, stream);
    },
    projectOf: (id) => projects.get(id),
    close,
  };
}

function isSession(stream: string): stream is SessionId {
  return stream.startsWith("ses_");
}

/** All other streams are the daemon's own books, on tokens and requests, which are for admins. */
function isProject(stream: string): stream is ProjectId {
  return stream.startsWith("prj_");
}
