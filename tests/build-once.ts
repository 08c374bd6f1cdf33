import { build } from "../scripts/build.ts";

/** Stories run on what is shipped, so the bundle is made once before the first of them. */
export default async function setup(): Promise<void> {
  await build();
}
