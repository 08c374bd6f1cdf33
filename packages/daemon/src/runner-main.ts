import { flushCompileCache } from "node:module";
import { parseArgs } from "node:util";
import { openKinds } from "./kinds/index.ts";
import { openContext, openLoop, readPersonal } from "./kinds/loop/index.ts";
import { driversOf } from "./environments/index.ts";
import { engineFinder, openContainerDriver } from "./environments/container/index.ts";
import { openJailDriver } from "./environments/jail/index.ts";
import { openLocalDriver } from "./environments/local/index.ts";
import { loggerTo } from "./logging/index.ts";
import { anthropic } from "./providers/anthropic/index.ts";
import { compatible } from "./providers/compatible/index.ts";
import { google } from "./providers/google/index.ts";
import { openProviders } from "./providers/index.ts";
import { ollama } from "./providers/ollama/index.ts";
import { openai } from "./providers/openai/index.ts";
import type { ProviderDriver } from "./providers/port.ts";
import { rehearsalDriver } from "./providers/rehearsal/index.ts";
import { openLifeline, reachByDaemon, serveRuns } from "./runner/process/index.ts";
import { Secrets } from "./secrets/index.ts";
import { builtInTools, openRegistry } from "./tools/index.ts";

const { values } = parseArgs({ options: { home: { type: "string" } } });
const { home } = values;
if (home === undefined) throw new Error("a runner needs --home");

const lifeline = openLifeline();
const logging = loggerTo((line) => lifeline.send({ say: "log", line }), process.env);
const logger = logging.logger.child({ component: "runner" });
const rehearsal = rehearsalDriver({ home, scripts: process.env["CORRAL_REHEARSALS"] });
const drivers: readonly ProviderDriver[] = [anthropic, openai, google, compatible, ollama, rehearsal];
const providers = openProviders(
  drivers,
  reachByDaemon(lifeline, () => providers.forget()),
);

const jails = openJailDriver({ home });

void warmUp();

serveRuns(
  {
    home,
    kinds: openKinds({
      loop: openLoop({
        findModel: (named) => providers.find(named),
        tools: openRegistry(builtInTools),
        context: openContext({ personal }),
      }),
    }),
    drivers: driversOf(
      jails,
      openContainerDriver({ home, findEngine: engineFinder(process.env) }),
      openLocalDriver({ home, variables: process.env }),
    ),
    secrets: new Secrets(),
  },
  lifeline,
  logging.setLevel,
);

/** The daemon says where that is. */
async function personal(): Promise<string | undefined> {
  const file = process.env["CORRAL_INSTRUCTIONS"];
  return file === undefined ? undefined : readPersonal(file);
}

/** While it waits for its first work. */
async function warmUp(): Promise<void> {
  logger.debug("the runner serves");
  const usual = process.env["CORRAL_WARM_PROVIDER"];
  await drivers.find(({ name }) => name === usual)?.warmUp?.();
  jails.warmUp?.();
  flushCompileCache();
}
