import type { SessionId, StoredEvent, StreamFilter } from "@corral/protocol";
import { isFullAdmin, missing, type Principal, type Sight } from "../../routing/index.ts";

/** What one stream carries. */
export interface Subscription {
  readonly after: number;
  /** The only stream of the log that is of interest, where there is one. */
  readonly session: SessionId | undefined;
  /** Undefined: every event is. */
  readonly wants: ((event: StoredEvent) => boolean) | undefined;
  /** Whether the deltas of a session are wanted. */
  readonly hears: (session: SessionId) => boolean;
  readonly deltas: boolean;
  /** Ends the stream when it aborts. */
  readonly over: AbortSignal | undefined;
}

export interface SubscriptionWish extends StreamFilter {
  readonly after: number;
  readonly deltas: boolean;
}

/** Throws `not-found` for a session or project outside of what the principal may see. */
export function subscriptionFor(who: Principal, wish: SubscriptionWish, sight: Sight): Subscription {
  const { session = who.session, project, types, after, deltas } = wish;
  if (wish.session !== undefined && !sight.session(who, wish.session)) throw missing("session", wish.session);
  if (project !== undefined && !sight.project(who, project)) throw missing("project", project);
  const ofProject = (stream: string) =>
    project === undefined || stream === project || sight.projectOf(stream) === project;
  const ofType = types === undefined ? undefined : typeMatcher(types);
  const all = isFullAdmin(who) && session === undefined && project === undefined && ofType === undefined;
  return {
    after,
    session,
    deltas,
    over: who.over,
    wants: all
      ? undefined
      : ({ stream, type }) =>
          (session === undefined || stream === session) &&
          ofProject(stream) &&
          sight.stream(who, stream) &&
          (ofType === undefined || ofType(type)),
    hears: (id) => (session === undefined || id === session) && ofProject(id) && sight.session(who, id),
  };
}

function typeMatcher(patterns: readonly string[]): (type: string) => boolean {
  const exact = new Set(patterns);
  return (type) => exact.has(type) || exact.has(`${type.slice(0, type.indexOf("."))}.*`);
}
