export { type ArtifactTerms, openArtifacts } from "./artifacts.ts";
export { attach } from "./attachments.ts";
export { keepForRuns } from "./keeping.ts";
export { MaskedOutput } from "./masked-output.ts";
export type { Artifacts, Growing } from "./port.ts";
export { artifactProjections } from "./projection.ts";
