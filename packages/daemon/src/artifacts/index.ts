export { type ArtifactTerms, type ArtifactsOptions, openArtifacts } from "./artifacts.ts";
export type { ArtifactOwner, Artifacts, Growing, NewArtifact } from "./port.ts";
export { artifactProjections } from "./projection.ts";
