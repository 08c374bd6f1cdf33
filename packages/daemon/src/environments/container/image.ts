import { CorralError } from "@corral/protocol";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { mustHavePipes } from "../../descriptors/index.ts";
import { type Engine, type EngineFacts, EngineRefusal } from "./engine.ts";

const buildMs = 30 * 60_000;
const fileNames = ["Containerfile", "Dockerfile"];

/** The image to open a container from, by the name that the engine has for it. Nothing is ever fetched behind the operator's back. */
export async function findImage(engine: Engine, facts: EngineFacts, image: string | undefined): Promise<string> {
  if (image === undefined) throw noImage();
  if (image.startsWith("/")) return builtFrom(engine, image);
  if ((await engine.image(image)) !== undefined) return image;
  throw refused(`The image ${image} is not there.`, `Fetch it: ${facts.name.toLowerCase()} pull ${image}`);
}

/** Built once for each content of its folder: the tag is the content's hash. */
async function builtFrom(engine: Engine, folder: string): Promise<string> {
  const file = fileNames.find((name) => existsSync(join(folder, name)));
  if (file === undefined)
    throw refused(`${folder} has no Containerfile.`, "Name an image, or a folder with a Containerfile.");
  const tag = `localhost/corral-built:${await hashOf(folder)}`;
  if ((await engine.image(tag)) !== undefined) return tag;
  try {
    await engine.build(tag, file, tarOf(folder).stdout, buildMs);
  } catch (error) {
    if (error instanceof EngineRefusal)
      throw refused(`The image of ${folder} cannot be built: ${error.message}`, "See its Containerfile.");
    throw error;
  }
  if ((await engine.image(tag)) === undefined)
    throw refused(`The image of ${folder} was not built.`, "See its Containerfile.");
  return tag;
}

async function hashOf(folder: string): Promise<string> {
  const tar = tarOf(folder);
  const hash = createHash("sha256");
  for await (const chunk of tar.stdout) hash.update(chunk as Buffer);
  if ((await tar.exitCode) !== 0) throw refused(`${folder} cannot be read.`, "Check the rights of its files.");
  return hash.digest("hex").slice(0, 32);
}

/** The same content gives the same bytes, whoever wrote it and when. */
function tarOf(folder: string): { stdout: Readable; exitCode: Promise<number | null> } {
  const same = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"];
  const child = mustHavePipes(
    spawn("/usr/bin/tar", ["-C", folder, ...same, "-cf", "-", "."], {
      stdio: ["ignore", "pipe", "ignore"],
      env: {},
    }),
  );
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once("error", () => resolve(null));
  child.once("close", (code) => resolve(code));
  return { stdout: child.stdout, exitCode: promise };
}

function noImage(): CorralError {
  return refused(
    "No image was named for the container.",
    "Name one: corral config set container.image NAME, or --image NAME.",
  );
}

function refused(message: string, hint: string): CorralError {
  return new CorralError("jail.unavailable", message, { hint, retry: "never" });
}
