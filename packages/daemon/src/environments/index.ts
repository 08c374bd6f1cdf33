export { BridgeKeeping } from "./bridge.ts";
export { closingOf } from "./closing.ts";
export { driversOf, type EnvironmentDrivers } from "./drivers.ts";
export { engineSockets } from "./engines.ts";
export { runProgram, versionOf } from "./files/index.ts";
export type { FileEntry, Files, FileVersion } from "./files/port.ts";
export { measure } from "./limits/index.ts";
export { pathInside, placesInside } from "./keeper/index.ts";
export { defaultLimits, limitsFrom, planOf, workspaceIn } from "./plan.ts";
export type {
  CommandResults,
  Environment,
  EnvironmentDriver,
  KeptLimit,
  LeftResults,
  Owner,
  Shell,
  Sweep,
} from "./port.ts";
export { identify, isAlive, isStopped, signal as signalProcess } from "./process-identity.ts";
export { quoted } from "./quoting.ts";
export { removeFolder } from "./remove-folder.ts";
export type { Terminal } from "./terminals/port.ts";
export { openTrials } from "./trials.ts";
export { followWhole, mostInResult, type OutputPlace } from "./whole-output.ts";
export { aloneWishOf, shellWishOf, type UsualContainer, wishOf } from "./wish.ts";
export {
  type HeldBack,
  heldBackIn,
  type HeldContent,
  heldContents,
  ownerOf,
  putBack,
  whyPathObeyed,
} from "./walled/index.ts";
