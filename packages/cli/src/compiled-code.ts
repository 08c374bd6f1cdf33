import { homeFolder } from "./home.ts";

/** Beside the daemon's, so that the next command begins quicker. A home that is not there is not made for it. */
export function keepCompiledCode(): void {
  const home = homeFolder(process.env, process.platform);
  const { existsSync } = process.getBuiltinModule("node:fs");
  if (existsSync(home)) process.getBuiltinModule("node:module").enableCompileCache(`${home}/cache`);
}
