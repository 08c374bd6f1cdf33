export { CorralError, isKnown, newId } from "@corral/protocol";
export type * from "./api.ts";
export {
  type AuditWish,
  type Client,
  type ClientOptions,
  createClient,
  type ListQuestions,
  type Page,
} from "./client.ts";
export type { ReadArtifact } from "./content.ts";
export type { Break, Followed, FollowOptions } from "./follow.ts";
export type { Api } from "./generated.ts";
export type { OpenSocket, Socket } from "./socket.ts";
export type { AttachedTerminal, AttachTerminal, ClosedTerminal, TerminalSize } from "./terminal.ts";
export type { Answer, Endpoint, Fetch, Sending, Waiting } from "./transport.ts";
