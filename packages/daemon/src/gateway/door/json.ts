import { CorralError } from "@corral/protocol";
import type { FastifyInstance } from "fastify";

const deepest = 64;

/** Takes JSON that is not nested absurdly, which is found out before anything is built of it, and has no prototypes in it. */
export function takeJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, body, done) => {
    if (isDeeperThan(deepest, body)) return done(tooDeep());
    return parse(request, body, done);
  });
}

/** Whether brackets outside of strings are nested deeper; reads no further than needed. */
export function isDeeperThan(limit: number, text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > limit) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
    }
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;

/** The place of the quote that ends the string begun here; the end of the text if none does. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}

function tooDeep(): CorralError {
  return new CorralError("request.invalid", `The body is nested deeper than ${deepest} levels`);
}
