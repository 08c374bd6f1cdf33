import { startNode } from "./process.ts";

export interface FloorFigures {
  readonly turns: number;
  readonly ms: number;
  readonly rss: number;
}

/** Runs one floor script to its end. */
export async function measureFloor(script: string, args: readonly (string | number)[]): Promise<FloorFigures> {
  const { said } = await startNode([`bench/floors/${script}.ts`, ...args.map(String)], process.env);
  return said as FloorFigures;
}
