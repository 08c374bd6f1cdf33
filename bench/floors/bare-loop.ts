/** node bare-loop.ts URL TURNS: one loop, a plain `sh -c` for each command. Prints one line of JSON. */
import { type Argv, runPrompt } from "./loop.ts";

const [url = "", turns = "50"] = process.argv.slice(2);
const plain: Argv = (command) => ["sh", "-c", command];

await runPrompt(url, "[[shell: echo warm]]", plain);
const start = performance.now();
const ran = await runPrompt(url, `[[repeat ${turns} shell: echo {n}]]`, plain);
const ms = performance.now() - start;
process.stdout.write(`${JSON.stringify({ turns: ran, ms, rss: process.memoryUsage.rss() })}\n`);
process.exit(0);
