import type { Sieve } from "../door.ts";
import { jsonOf, countsIn, fieldsOf, listOf, nameOf, numberOf, textOf, type Told } from "../told.ts";

/** What Corral takes of a reply by Google's protocol: its first candidate. Parts of other kinds are passed over. */
export class CandidateEvents implements Sieve {
  readonly over = false;

  take(event: Told): readonly object[] {
    const { error, usageMetadata, promptFeedback, responseId } = event;
    if (error !== undefined && error !== null) return [{ error: errorOf(fieldsOf(error)) }];
    const blocked = nameOf(fieldsOf(promptFeedback)["blockReason"]);
    return [
      {
        responseId: nameOf(responseId) ?? null,
        candidates: listOf(event["candidates"])
          .slice(0, 1)
          .map((each) => this.#candidate(fieldsOf(each))),
        ...(typeof usageMetadata === "object" ? { usageMetadata: countsIn(usageMetadata, counted) } : {}),
        ...(blocked === undefined ? {} : { promptFeedback: { blockReason: blocked } }),
      },
    ];
  }

  /** Without what would have the SDK ask once more by itself. */
  #candidate({ content, finishReason }: Told): object {
    const parts = listOf(fieldsOf(content)["parts"]).flatMap((part) => this.#part(fieldsOf(part)));
    return { content: { parts }, finishReason: nameOf(finishReason) ?? null };
  }

  #part(part: Told): readonly object[] {
    const { text, thought, thoughtSignature: signature, functionCall } = part;
    const signed = textOf(signature) === undefined ? {} : { thoughtSignature: signature };
    if (typeof functionCall === "object") {
      const { id, name: named, args, partialArgs, willContinue } = fieldsOf(functionCall);
      // Arguments in pieces are never asked for; whoever sends them all the same means the SDK to put them together.
      if (partialArgs !== undefined || willContinue !== undefined) return [{ functionCall, ...signed }];
      const name = nameOf(named);
      if (name === undefined) return [];
      const given = { name, args: jsonOf(args), ...(nameOf(id) === undefined ? {} : { id: nameOf(id) }) };
      return [{ functionCall: given, ...signed }];
    }
    if (textOf(text) === undefined) return [];
    return [{ text, ...(thought === true ? { thought } : {}), ...signed }];
  }
}

const counted = [
  "promptTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "cachedContentTokenCount",
  "toolUsePromptTokenCount",
  "totalTokenCount",
];

function errorOf({ code, message, status, details }: Told): object {
  return {
    code: numberOf(code) ?? null,
    message: textOf(message) ?? "",
    status: nameOf(status) ?? "UNKNOWN",
    ...(Array.isArray(details) ? { details } : {}),
  };
}
