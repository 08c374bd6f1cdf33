import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Where all of Corral's state is: `CORRAL_HOME`, else the platform's place for data. */
export function homeFolder(
  variables: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
  userHome: string = homedir(),
): string {
  if (variables["CORRAL_HOME"]) return resolve(variables["CORRAL_HOME"]);
  if (platform === "darwin") return join(userHome, "Library", "Application Support", "corral");
  if (variables["XDG_DATA_HOME"]?.startsWith("/")) return join(variables["XDG_DATA_HOME"], "corral");
  return join(userHome, ".local", "share", "corral");
}
