import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import {
  type MessagesBody,
  newInputsOf,
  type ReceivedMessage,
  type ReceivedToolResult,
  toolResultsOf,
} from "./conversation.ts";
import { cutOff, deliver, type Destination, openStream, sendFailure } from "./delivery.ts";
import { newId } from "./protocols/messages.ts";
import type { Asked, ReplyWriter } from "./protocols/protocol.ts";
import { type Failure, partsOf, type Reply, split, type Tokens } from "./reply.ts";

/** One model request, held open until it is answered in one of three ways: `answer`, `stream`, `fail`. */
export class ScriptedRequest {
  /** As it was sent: what is in it besides the model and the messages depends on the protocol. */
  readonly body: MessagesBody;
  /** The conversation, whatever the protocol. */
  readonly messages: readonly ReceivedMessage[];
  readonly model: string;
  readonly headers: IncomingHttpHeaders;
  /** Resolves when the exchange is over: the reply was sent whole, or the client went away. */
  readonly closed: Promise<void>;
  readonly #to: Destination;
  #answered = false;

  constructor(asked: Asked, body: MessagesBody, headers: IncomingHttpHeaders, to: Destination) {
    this.body = body;
    this.messages = asked.messages;
    this.model = asked.model;
    this.headers = headers;
    this.#to = to;
    this.closed = new Promise((resolve) => to.response.once("close", resolve));
  }

  /** Texts of the user that came after the last assistant message. */
  get newInputs(): readonly string[] {
    return newInputsOf(this.messages);
  }

  /** Tool results that came after the last assistant message. */
  get toolResults(): readonly ReceivedToolResult[] {
    return toolResultsOf(this.messages);
  }

  answer(...replies: readonly Reply[]): void {
    this.#settle();
    void deliver(partsOf(replies), this.#to);
  }

  fail(status: number, failure: Failure = {}): void {
    this.#settle();
    sendFailure(this.#to, status, failure);
  }

  /** Answers piece by piece; each call is sent at once. */
  stream(): ReplyStream {
    this.#settle();
    if (!this.#to.streams) throw new Error("This request did not ask for a stream.");
    return new ReplyStream(this.#to);
  }

  #settle(): void {
    if (this.#answered) throw new Error("This request is answered already.");
    this.#answered = true;
  }
}

/** A reply as it is written by a test. Blocks that are still open are closed by what follows them. */
export class ReplyStream {
  readonly #response: ServerResponse;
  readonly #message: ReplyWriter;

  constructor(to: Destination) {
    this.#response = openStream(to.response);
    this.#message = to.protocol.reply(to.model, to.inputTokens);
    this.#send(this.#message.start());
  }

  text(piece: string): void {
    this.#send(this.#message.text(piece));
  }

  endText(): void {
    this.#send(this.#message.endBlock());
  }

  thinking(piece: string): void {
    this.#send(this.#message.thinking(piece));
  }

  endThinking(signature = "scripted-signature"): void {
    this.#send(this.#message.endBlock(signature));
  }

  /** A whole call; its arguments are complete with this. */
  call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    how: { readonly id?: string; readonly pieces?: number } = {},
  ): void {
    this.#send(this.#message.call(how.id ?? newId("toolu"), tool, split(JSON.stringify(args), how.pieces ?? 1)));
  }

  /** Bytes as they are, for what no well-behaved server sends. */
  raw(text: string): void {
    this.#send(text);
  }

  finish(how: { readonly reason?: string; readonly tokens?: Tokens } = {}): void {
    this.#response.end(this.#message.finish(how.reason, how.tokens));
  }

  /** Ends the body properly but without the closing events. */
  endEarly(): void {
    this.#response.end();
  }

  /** Destroys the connection. */
  cut(): void {
    cutOff(this.#response);
  }

  error(type: string, message = `scripted ${type}`): void {
    this.#response.end(this.#message.error(type, message));
  }

  #send(text: string): void {
    if (text !== "") this.#response.write(text);
  }
}
