import { globSync } from "node:fs";
import { basename } from "node:path";
import { build } from "../scripts/build.ts";

/** `npm run bench -- NAME` runs `bench/NAME.ts` on a fresh bundle. */
const [name = ""] = process.argv.slice(2);
const names = globSync("*.ts", { cwd: import.meta.dirname })
  .map((file) => basename(file, ".ts"))
  .filter((found) => found !== "run")
  .toSorted();

if (names.includes(name)) {
  await build();
  await import(`./${name}.ts`);
} else {
  console.error(
    `${name === "" ? "Which benchmark?" : `There is no benchmark ${name}.`} There is: ${names.join(", ") || "none yet"}.`,
  );
  process.exitCode = 2;
}
