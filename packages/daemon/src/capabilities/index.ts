export { openCapabilities, type ProvidedCapabilities } from "./capabilities.ts";
export { RunScope } from "./run-scope.ts";
