import type { Sieve } from "../door.ts";
import { countsIn, fieldsOf, nameOf, numberOf, textOf, type Told } from "../told.ts";

/** What Corral takes of a reply by the Responses protocol. Items and events of other kinds are passed over. */
export class ResponseEvents implements Sieve {
  over = false;
  /** The calls that are taken in, by their places. */
  readonly #taken = new Set<number>();

  take(event: Told): readonly object[] {
    const type = textOf(event["type"]) ?? "";
    const at = placeOf(event);
    switch (type) {
      case "response.created":
      case "response.in_progress":
        return [{ type, response: { id: nameOf(fieldsOf(event["response"])["id"]) ?? "", created_at: 0, model: "" } }];
      case "response.output_item.added":
      case "response.output_item.done":
        return this.#item(type, at.output_index, fieldsOf(event["item"]));
      case "response.function_call_arguments.delta":
        return this.#taken.has(at.output_index) ? grown(type, at, event) : [];
      case "response.output_text.delta":
      case "response.refusal.delta":
        return grown(type, at, event);
      case "response.reasoning_summary_text.delta":
        return grown(type, { ...at, summary_index: summaryOf(event) }, event);
      case "response.reasoning_summary_part.added":
      case "response.reasoning_summary_part.done":
        return [{ type, ...at, summary_index: summaryOf(event) }];
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        this.over = true;
        return [{ type, sequence_number: 0, response: endOf(fieldsOf(event["response"])) }];
      case "error":
        return [errorOf(event)];
      default:
        return [];
    }
  }

  #item(type: string, index: number, item: Told): readonly object[] {
    const id = nameOf(item["id"]) ?? `item_${index}`;
    const told = (known: object) => [{ type, output_index: index, item: { type: item["type"], id, ...known } }];
    switch (item["type"]) {
      case "message":
        return told({ phase: phaseOf(item["phase"]) });
      case "reasoning":
        return told({ encrypted_content: textOf(item["encrypted_content"]) ?? null });
      case "function_call": {
        const name = nameOf(item["name"]);
        if (name === undefined) return [];
        this.#taken.add(index);
        const call = { call_id: nameOf(item["call_id"]) ?? id, name, arguments: textOf(item["arguments"]) ?? "" };
        return told({ ...call, status: "completed" });
      }
      default:
        return [];
    }
  }
}

interface Place {
  readonly item_id: string;
  readonly output_index: number;
}

function placeOf(event: Told): Place {
  const index = numberOf(event["output_index"]) ?? 0;
  return { item_id: nameOf(event["item_id"]) ?? `item_${index}`, output_index: index };
}

function summaryOf(event: Told): number {
  return numberOf(event["summary_index"]) ?? 0;
}

function grown(type: string, at: object, event: Told): readonly object[] {
  const delta = textOf(event["delta"]);
  return delta === undefined ? [] : [{ type, ...at, delta }];
}

function phaseOf(phase: unknown): string | null {
  return phase === "commentary" || phase === "final_answer" ? phase : null;
}

function endOf({ error, incomplete_details: details, usage }: Told): object {
  const reason = nameOf(fieldsOf(details)["reason"]);
  const { code, message } = fieldsOf(error);
  const failed = error === undefined || error === null ? null : { code: nameOf(code), message: textOf(message) ?? "" };
  return {
    error: failed,
    incomplete_details: reason === undefined ? null : { reason },
    usage: usage === undefined || usage === null ? null : usageOf(fieldsOf(usage)),
  };
}

function usageOf(usage: Told): object {
  return {
    ...{ input_tokens: 0, output_tokens: 0 },
    ...countsIn(usage, ["input_tokens", "output_tokens"]),
    input_tokens_details: countsIn(usage["input_tokens_details"], ["cached_tokens", "cache_write_tokens"]),
    output_tokens_details: countsIn(usage["output_tokens_details"], ["reasoning_tokens"]),
  };
}

/** Told flat or nested. */
function errorOf(event: Told): object {
  const { message, code, type }: Told = { ...event, type: undefined, ...fieldsOf(event["error"]) };
  const told = { code: nameOf(code) ?? null, message: textOf(message) ?? "" };
  if (nameOf(type) === undefined) return { type: "error", sequence_number: 0, ...told };
  return { type: "error", sequence_number: 0, error: { type: nameOf(type), ...told } };
}
