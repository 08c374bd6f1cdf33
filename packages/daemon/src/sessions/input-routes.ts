import { type AttachFile, type Attachment, CorralError, type SessionId, type TraceId } from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import { type Handlers, principalOf, requireMayDrive } from "../routing/index.ts";
import type { Sessions } from "./sessions.ts";

interface Needs {
  readonly sessions: Sessions;
  /** Keeps a file as an artifact of the session. */
  readonly attach: (session: SessionId, file: AttachFile, traceId: TraceId) => Promise<Attachment>;
}

/** What is said to sessions, until they take it up. */
export function inputRoutes({ sessions, attach }: Needs): Handlers<RoutesOf<"inputs">> {
  return {
    async "sessions.attach"(request) {
      await requireMayDrive(sessions, request.params.id, principalOf(request));
      return attach(request.params.id, request.body, request.by.traceId);
    },

    async "sessions.admit"(request, reply) {
      await requireMayDrive(sessions, request.params.id, principalOf(request));
      const outcome = await sessions.admit(request.params.id, request.body, request.by);
      if (outcome.kind === "conflict") throw new CorralError("input.conflict", outcome.reason);
      const { kind, input, seq } = outcome;
      void reply.code(kind === "admitted" ? 202 : 200);
      return { kind, input, seq };
    },

    "sessions.inbox": (request) => sessions.inbox(request.params.id),

    async "sessions.change"(request) {
      const { id, input } = request.params;
      await requireMayDrive(sessions, id, principalOf(request));
      return sessions.change(id, input, request.body, request.by);
    },

    async "sessions.decideQueue"(request) {
      await requireMayDrive(sessions, request.params.id, principalOf(request));
      return sessions.decideQueue(request.params.id, request.body.decision, request.by);
    },
  };
}
