/** Imported by name, what is lazy in them would be loaded; this is read before anything else of a command. */
const os = process.getBuiltinModule("node:os");
const path = process.getBuiltinModule("node:path");

type Variables = Readonly<Record<string, string | undefined>>;

/** The folder of all state: `CORRAL_HOME`, else the platform's place for data. */
export function homeFolder(variables: Variables, platform: NodeJS.Platform, userHome: string = os.homedir()): string {
  if (variables["CORRAL_HOME"]) return path.resolve(variables["CORRAL_HOME"]);
  if (platform === "darwin") return path.join(userHome, "Library", "Application Support", "corral");
  if (variables["XDG_DATA_HOME"]?.startsWith("/")) return path.join(variables["XDG_DATA_HOME"], "corral");
  return path.join(userHome, ".local", "share", "corral");
}
