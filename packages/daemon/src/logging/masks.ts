/** Text with every secret in it made unreadable. */
export type Mask = (text: string) => string;

const masked = "[masked]";

/** Shorter ones are no secrets, and masking them would make the text unreadable. */
const shortest = 8;

/** What looks like a secret wherever it stands: credentials of a header, keys of providers, passwords in addresses. */
const shapes: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${masked}`],
  [/\bsk-[\w-]{8,}/g, masked],
  [/(:\/\/[^\s/:@"]*:)[^\s/@"]+@/g, `$1${masked}@`],
];

/** Hides these values, as they are and as JSON writes them, and what looks like a secret. */
export function maskOf(secrets: readonly string[]): Mask {
  const values = secrets.map((secret) => secret.trim()).filter((secret) => secret.length >= shortest);
  const spellings = values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]);
  // The longest first, so that no rest of it stays when another is its beginning.
  const longestFirst = [...new Set(spellings)].toSorted((a, b) => b.length - a.length);
  return (text) => {
    const hidden = longestFirst.reduce((sofar, value) => sofar.replaceAll(value, masked), text);
    return shapes.reduce((sofar, [shape, replacement]) => sofar.replace(shape, replacement), hidden);
  };
}

/** The values of variables whose names say that they are secret. */
export function secretsAmong(variables: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value !== undefined && /(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$/i.test(name) ? [value] : [],
  );
}
