import { existsSync } from "node:fs";
import type { Secret } from "./mask.ts";

/** Secrets in the environment of a process: values of variables whose names say so, and passwords in addresses. */
export function secretsInVariables(variables: Readonly<Record<string, string | undefined>>): readonly Secret[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (secretName.test(name) && !isPath(value)) return [{ name, value }];
    return passwordsIn(value).map((password) => ({ name, value: password }));
  });
}

/** What stands between `://USER:` and `@`, as it is written and as it reads. */
export function passwordsIn(address: string): readonly string[] {
  const written = /:\/\/[^\s/:@"]*:([^\s/@"]+)@/.exec(address)?.[1];
  if (written === undefined) return [];
  return [...new Set([written, decoded(written)])];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const secretName = /(KEY|TOKEN|SECRET|PASSW(OR)?D|PASSPHRASE|CREDENTIALS?)$/i;

/** Some name the file that the secret is in. */
function isPath(value: string): boolean {
  return value.startsWith("/") && existsSync(value);
}
