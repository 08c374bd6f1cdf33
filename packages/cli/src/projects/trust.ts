import type { SettingsFile } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { canAsk, confirm } from "../terminal/confirm.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.trust> = async ({ yes, json }, world) => {
  const client = await connectDaemon(world);
  const { id } = await client.projects.register({ path: world.cwd });
  let view = await client.projects.trust(id);
  const open = view.files.filter((file) => file.state === "untrusted");
  if (json !== true) for (const file of view.files) world.out.write(display(file));
  if (open.length > 0 && (await agreed(world, { yes: yes === true, asks: json !== true }))) {
    const files = Object.fromEntries(open.map(({ path, sha256 }) => [path, sha256]));
    view = await client.projects.giveTrust(id, { files });
  }
  if (json === true) world.out.write(jsonLine(view));
  else world.err.write(conclusion(view.files));
  return view.files.every(({ state }) => state === "trusted") ? 0 : 1;
};

async function agreed(world: World, { yes, asks }: { yes: boolean; asks: boolean }): Promise<boolean> {
  if (yes) return true;
  if (!asks) return false;
  if (canAsk(world)) return confirm("Trust these settings?", world);
  throw new UsageError("there is no terminal to ask on", "`corral trust --yes` trusts them as they are shown");
}

function display(file: SettingsFile): string {
  if (file.state === "unreadable") return shown(`${file.path}: cannot be read: ${file.reason}\n`);
  if (file.state === "trusted") return shown(`${file.path}: trusted\n`);
  const lines = file.content.replace(/\n$/, "").split("\n");
  return shown(`${file.path}: not trusted; it contains\n${lines.map((line) => `  | ${line}\n`).join("")}`);
}

function conclusion(files: readonly SettingsFile[]): string {
  if (files.length === 0) return "this folder has no settings\n";
  return files.every(({ state }) => state === "trusted")
    ? "all settings count\n"
    : "settings that you do not trust do not count\n";
}
