export { BridgeKeeping } from "./bridge/bridge.ts";
export { closingOf } from "./ending/closing.ts";
export { driversOf, type EnvironmentDrivers } from "./drivers/drivers.ts";
export { engineSockets } from "./drivers/engines.ts";
export { runProcess, versionOf } from "./files/index.ts";
export type { FileEntry, Files, FileVersion } from "./files/port.ts";
export { EnvironmentHolder, type OpenAndRecord, type Replaced } from "./holder/holder.ts";
export { measure } from "./limits/index.ts";
export { pathInside, placesInside } from "./keeper/index.ts";
export { defaultLimits, limitsFrom, planOf, workspaceIn } from "./plan/plan.ts";
export type { CommandResults, Environment, EnvironmentDriver, KeptLimit, Owner, Shell, Sweep } from "./port.ts";
export { identify, isAlive, isStopped, signal as signalProcess } from "./system/process-identity.ts";
export { quoted } from "./system/quoting.ts";
export { removeFolder } from "./system/remove-folder.ts";
export type { Terminal } from "./terminals/port.ts";
export { openTrials } from "./drivers/trials.ts";
export { followWhole, mostInResult, type OutputPlace } from "./shell/whole-output.ts";
export { aloneWishOf, shellWishOf, type UsualContainer, wishOf } from "./plan/wish.ts";
export {
  type HeldBack,
  heldBackIn,
  type HeldContent,
  heldContents,
  ownerOf,
  putBack,
  whyPathObeyed,
} from "./walled/index.ts";
