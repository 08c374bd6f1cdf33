export { shellProjections } from "./projections.ts";
export { openShells, type Shells } from "./shells.ts";
