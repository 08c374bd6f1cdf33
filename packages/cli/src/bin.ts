#!/usr/bin/env node
/**
 * The package's program. It is read by whatever Node is first in PATH, so nothing newer than Node 16 is used before
 * the version is known; all else is loaded after that.
 */
import { existsSync } from "node:fs";
import nodeModule from "node:module";
import { join } from "node:path";
import { homeFolder } from "./home.ts";

const needed = [24, 15] as const;
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major > needed[0] || (major === needed[0] && minor >= needed[1])) {
  keepCompiledCode(homeFolder(process.env, process.platform));
  await import("./main.ts");
} else {
  process.stderr.write(
    `error: Corral needs Node ${needed.join(".")} or newer; this is ${process.versions.node} (${process.execPath})\n` +
      "hint: Install a newer Node (https://nodejs.org) and put it first in PATH; see which is with `command -v node`\n",
  );
  process.exitCode = 1;
}

/** Beside the daemon's, so that the next command begins quicker. A home that is not there is not made for it. */
function keepCompiledCode(home: string): void {
  if (existsSync(home)) nodeModule.enableCompileCache(join(home, "cache"));
}
