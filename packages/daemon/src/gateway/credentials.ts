import { credentialAnswer, credentialList, credentialTest, providerName, setCredential } from "@corral/protocol";
import { z } from "zod";
import type { Routes } from "./routes.ts";

/** A key comes in and never goes out. */
export const credentialRoutes: Routes = (app, { credentials, secrets }) => {
  const tags = ["credentials"];
  const params = z.object({ provider: providerName });

  app.get(
    "/api/credentials",
    { schema: { tags, summary: "Tells where each provider's key is from", response: { 200: credentialList } } },
    async () => ({ credentials: [...(await credentials.list())] }),
  );

  app.put(
    "/api/credentials/:provider",
    {
      config: { takesSecrets: true },
      schema: {
        tags,
        summary: "Keeps a provider's key, or the command that prints it",
        params,
        body: setCredential,
        response: { 200: credentialAnswer },
      },
    },
    async ({ params: { provider }, body, by }) => {
      await credentials.put(provider, body, by);
      return { provider, kind: "stored" as const };
    },
  );

  app.delete(
    "/api/credentials/:provider",
    { schema: { tags, summary: "Forgets a provider's key", params, response: { 200: credentialAnswer } } },
    async ({ params: { provider }, by }) => {
      const was = await credentials.remove(provider, by);
      return { provider, kind: was ? ("removed" as const) : ("nothing" as const) };
    },
  );

  app.post(
    "/api/credentials/:provider/test",
    {
      schema: {
        tags,
        summary: "Asks the provider whether it takes the key, which costs nothing",
        params,
        body: z.object({}),
        response: { 200: credentialTest },
      },
    },
    async ({ params: { provider } }) => secrets.masked(await credentials.test(provider)),
  );
};
