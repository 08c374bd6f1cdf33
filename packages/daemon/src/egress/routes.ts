import { type FindsSessions, type Handlers, mustSeeSession, principalOf, type Sight } from "../routing/index.ts";
import type { Egress } from "./egress.ts";

interface Needs {
  readonly egress: Pick<Egress, "view">;
  readonly sessions: FindsSessions;
  readonly sight: Sight;
}

export function networkRoutes(needs: Needs): Handlers<"network"> {
  const { egress, sight } = needs;
  return {
    async network(request) {
      const who = principalOf(request);
      const { session } = request.query;
      if (session !== undefined) await mustSeeSession(needs, who, session);
      const view = await egress.view(session);
      return {
        ...view,
        contacts: view.contacts.filter(({ session, shell }) => sight.stream(who, session ?? shell ?? "")),
      };
    },
  };
}
