/** serve.ts [PORT]: the scripted model as a process of its own; prints one line of JSON with its url, ends on SIGTERM. */
import { startScriptedModel } from "./server.ts";

const port = Number(process.argv[2] ?? 0);
const model = await startScriptedModel({ unscripted: "done", remember: "no", port });
process.stdout.write(`${JSON.stringify({ url: model.url })}\n`);
process.once("SIGTERM", () => void model.close());
