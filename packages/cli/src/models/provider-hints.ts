import type { Client } from "@corral/client";
import type { World } from "../world.ts";
import { wrap } from "../terminal/wrap.ts";

/** A variable that is set here, where the daemon was started without it: what a hint asks for is done, and does not help yet. */
export function daemonLacks(hint: string, { variables }: Pick<World, "variables">): string | undefined {
  const missing = hint.match(/\b[A-Z][A-Z0-9_]*_API_KEY\b/g)?.find((name) => (variables[name] ?? "").trim() !== "");
  return missing === undefined
    ? undefined
    : `${missing} is set here, but the daemon was started without it: \`corral stop\`, and try again.`;
}

/** Looking for models on this machine is worth no longer wait. */
const patienceMs = 3_000;

/** What to set before a model can be asked; empty where one can be. */
export async function providerHints(client: Client, world: World): Promise<string> {
  const { err } = world;
  const credentials = await client.credentials.list().catch(() => []);
  const needed = credentials.filter(({ isNeeded }) => isNeeded);
  if (needed.length === 0 || needed.some(({ source }) => source !== null)) return "";
  const models = await client.models({ signal: AbortSignal.timeout(patienceMs) }).catch(() => []);
  const local = models.find(({ name, isReachable }) => isReachable && name.startsWith("ollama/"));
  const variables = needed.map(({ variable }) => variable).join(", ");
  const words = [
    daemonLacks(variables, world) ??
      `No provider has a key yet: \`corral auth login anthropic\` stores one, or set one of ${variables} and restart the daemon (\`corral stop\`).`,
    ...(local === undefined
      ? []
      : [`Ollama runs here and needs none: \`corral run --model ${local.name} "what should be done"\`.`]),
    "`corral demo` shows what Corral does without any.",
  ];
  return `${words.map((each) => wrap(each, err.columns)).join("\n")}\n`;
}
