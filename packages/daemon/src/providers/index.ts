export { ProviderFailure } from "./failure.ts";
export { openProviders, parseModel, type Providers } from "./choice.ts";
export type {
  AssistantPart,
  Message,
  ModelRequest,
  Provider,
  ProviderMetadata,
  ReplyPiece,
  ToolOffer,
  ToolResult,
} from "./port.ts";
