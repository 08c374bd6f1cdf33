import type { RoutesOf } from "@corral/protocol/routes";
import type { Handlers } from "../routing/index.ts";
import type { Secrets } from "../secrets/index.ts";
import type { Credentials } from "./credentials.ts";

interface Needs {
  readonly credentials: Credentials;
  readonly secrets: Secrets;
}

/** A key comes in and never goes out. */
export function credentialRoutes({ credentials, secrets }: Needs): Handlers<RoutesOf<"credentials">> {
  return {
    "credentials.list": async () => ({ credentials: [...(await credentials.list())] }),

    async "credentials.put"({ params: { provider }, body, by }) {
      await credentials.put(provider, body, by);
      return { provider, kind: "stored" };
    },

    async "credentials.remove"({ params: { provider }, by }) {
      const was = await credentials.remove(provider, by);
      return { provider, kind: was ? "removed" : "nothing" };
    },

    "credentials.test": async ({ params: { provider } }) => secrets.masked(await credentials.test(provider)),
  };
}
