export type { Block, MessagesBody, ReceivedMessage, ReceivedToolResult } from "./conversation.ts";
export {
  answersWithPage,
  breaksWith,
  callsTool,
  cuts,
  endsLinesWith,
  type Failure,
  fails,
  holds,
  makesNoise,
  type Reply,
  type ReplyPart,
  says,
  sendsRaw,
  stops,
  thinks,
  type Tokens,
  waits,
} from "./reply.ts";
export { ReplyStream, ScriptedRequest } from "./request.ts";
export { type ScriptedModel, type ScriptedModelOptions, startScriptedModel } from "./server.ts";
