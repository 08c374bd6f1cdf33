import { startNode, stop } from "./process.ts";

/** The scripted model in a process of its own, the same for floors and Corral. */
export async function startModel(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { child, said } = await startNode(["packages/daemon/src/testing/scripted-model/serve.ts"], process.env);
  const { url } = said as { url: string };
  return { url, stop: () => stop(child) };
}
