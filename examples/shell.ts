/**
 * A shell in a jail, from a program: node examples/shell.ts
 * Installed from npm, it is `import { openShell } from "corral/shell"`.
 */
import { openShell } from "@corral/daemon";

// The same session is the same shell: run this twice, and the second run finds what the first left.
const shell = await openShell({ environment: { kind: "jail", network: "off" }, session: "example" });

await shell.run("count=$((count + 1)); cd /tmp");
const { stdout } = await shell.run('echo "run $count in $PWD as $(id -un)"');
console.log(stdout.trimEnd());

// Output while it comes, a time limit for all that the command starts, and the true exit code.
const checked = await shell.run("echo checking; echo oops >&2; (exit 3)", {
  timeoutMs: 60_000,
  onOutput: (stream, text) => console.log(`${stream}: ${text.trimEnd()}`),
});
console.log({ exitCode: checked.exitCode, timedOut: checked.timedOut });

// `--keep` leaves it open for the next run; otherwise nothing of it is left.
if (process.argv.includes("--keep")) shell.detach();
else await shell.close();
