export { listAll, listModels } from "./catalogue.ts";
export { type FindReach, type Found, openProviders, type Reach, unknownProvider } from "./choice.ts";
export { ProviderFailure } from "./failure.ts";
export {
  builtIn,
  keyVariables,
  openReach,
  providerCalled,
  providerNames,
  type ProviderSettings,
  valueOf,
} from "./reach.ts";
export type { AssistantPart, Image, Message, ModelRequest, ProviderMetadata, ReplyPiece, ToolResult } from "./port.ts";
