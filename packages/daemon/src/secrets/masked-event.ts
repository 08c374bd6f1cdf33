import { type CallId, event, type NewEvent } from "@corral/protocol";
import type { Secrets } from "./secrets.ts";

/**
 * An event without secrets. Events that say where things are on this machine stay as they are, since the daemon needs the true path.
 * Masked reasoning loses its provider's signature, which is for the words as they were.
 */
export function maskedEvent<T extends NewEvent>(given: T, secrets: Secrets): T {
  if (places.test(given.type)) return given;
  const masked = secrets.masked(given);
  if (masked === given || masked.type !== "turn.said" || masked.data.kind !== "reasoning") return masked;
  const { providerMetadata: _, ...data } = masked.data;
  return { ...masked, data };
}

const places = /^(?:project\.|environment\.|workspace\.prepared$|shell\.opened$)/;

/** The end of a call whose arguments hold these secrets. The call does not run with masked arguments: what is recorded is what runs. */
export function declinedFor(names: readonly string[], id: CallId): NewEvent {
  const reason =
    `Its arguments held a secret (${names.join(", ")}), so it was not run. The secret is masked in the record. ` +
    "Do it without the value: name the variable or file that holds it, or ask the operator.";
  return event("call.declined", { id, by: "rules", reason });
}
