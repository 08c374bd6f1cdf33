#!/usr/bin/env node
/**
 * The package's program. It is read by whatever Node is first in PATH, so nothing newer than Node 16 is used before
 * the version is known; all else is loaded after that.
 */

/** Set to true by the bundler; absent in source. */
declare const CORRAL_BUNDLED: boolean | undefined;

const needed = [24, 15] as const;
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major > needed[0] || (major === needed[0] && minor >= needed[1])) {
  const { keepCompiledCode } = await import("./compiled-code.ts");
  keepCompiledCode();
  // Required, not imported: the bundle is CommonJS, and whoever imports that has its exports looked for first.
  if (typeof CORRAL_BUNDLED !== "undefined")
    process.getBuiltinModule("node:module").createRequire(import.meta.url)("./cli-main.cjs");
  else await import("./main.ts");
} else {
  process.stderr.write(
    `error: Corral needs Node ${needed.join(".")} or newer; this is ${process.versions.node} (${process.execPath})\n` +
      "hint: Install a newer Node (https://nodejs.org) and put it first in PATH; `command -v node` shows the current one\n",
  );
  process.exitCode = 1;
}
