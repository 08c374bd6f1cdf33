export { openProviders } from "./choice.ts";
export { ProviderFailure } from "./failure.ts";
export { openReach, builtIn } from "./reach.ts";
export type {
  AssistantPart,
  Message,
  ModelRequest,
  Provider,
  ProviderMetadata,
  ReplyPiece,
  ToolResult,
} from "./port.ts";
