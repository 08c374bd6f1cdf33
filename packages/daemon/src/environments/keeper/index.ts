export { envOfSystem } from "./env.ts";
export { keeperScript } from "./script.ts";
export {
  askSignal,
  beginLine,
  egressInside,
  keeperFifos,
  keeperWords,
  mainShell,
  pathInside,
  placesInside,
  reachOfNamespace,
  readyLine,
  runtimeInside,
  scriptsInside,
  shellPrefix,
  spoolInside,
  wordMark,
  workspaceInside,
  type KeeperReach,
  type ShellCommand,
} from "./site.ts";
export { workerScript } from "./worker.ts";
