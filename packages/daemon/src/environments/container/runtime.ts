import { basename } from "node:path";
import { egressInside, runtimeInside } from "../keeper/index.ts";
import type { Mount } from "./walls.ts";

/**
 * The way out of a container whose network is `allow`: the folder with the proxy's socket, and the program that runs the bridge to it. An image may
 * have another C library, or none, so that program comes with the loader and the libraries that it was started with here.
 */
export function wayOut(egress: string | undefined, script: string): readonly Mount[] {
  if (egress === undefined) return [];
  const program = objects().map((source) => readable(source, `${partsInside}/${basename(source)}`));
  return [
    readable(egress, egressInside),
    readable(script, runtimeInside),
    readable(process.execPath, programInside),
    ...program,
  ];
}

/** What starts it inside. */
export function runtimeScript(): string {
  const loader = objects().find((path) => basename(path).startsWith("ld-"));
  const through = loader === undefined ? "" : `${partsInside}/${basename(loader)} --library-path ${partsInside} `;
  return `#!/bin/sh\nexec ${through}${programInside} "$@"\n`;
}

const partsInside = "/run/runtime-parts";
const programInside = `${partsInside}/program`;

let found: readonly string[] | undefined;

/** What the running program is made of besides its own file. */
function objects(): readonly string[] {
  return (found ??= loadedObjects().filter((path) => path.startsWith("/") && !path.endsWith(".node")));
}

function loadedObjects(): readonly string[] {
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  const { excludeNetwork = false } = report;
  // Otherwise it looks for names of whoever this process is connected to.
  report.excludeNetwork = true;
  try {
    return (report.getReport() as { readonly sharedObjects: readonly string[] }).sharedObjects;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

function readable(source: string, inside: string): Mount {
  return { source, inside, access: "read" };
}
