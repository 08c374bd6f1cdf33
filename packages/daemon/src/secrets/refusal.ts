import { CorralError } from "@corral/protocol";
import type { Secrets } from "./secrets.ts";

/** Throws `request.secret` for what people give. It is refused, not masked: an accepted word is never changed. */
export function mustHoldNoSecret(value: unknown, secrets: Secrets): void {
  const names = secrets.namesIn(value);
  if (names.length === 0) return;
  throw new CorralError("request.secret", `This holds a secret (${names.join(", ")}), so it was not accepted`, {
    hint: "Leave the value out, or name the variable or file that holds it",
  });
}
