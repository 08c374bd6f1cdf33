import { homedir } from "node:os";
import { join, resolve } from "node:path";

type Variables = Readonly<Record<string, string | undefined>>;

/** The folder of all state: `CORRAL_HOME`, else the platform's place for data. */
export function homeFolder(variables: Variables, platform: NodeJS.Platform, userHome: string = homedir()): string {
  if (variables["CORRAL_HOME"]) return resolve(variables["CORRAL_HOME"]);
  if (platform === "darwin") return join(userHome, "Library", "Application Support", "corral");
  if (variables["XDG_DATA_HOME"]?.startsWith("/")) return join(variables["XDG_DATA_HOME"], "corral");
  return join(userHome, ".local", "share", "corral");
}
