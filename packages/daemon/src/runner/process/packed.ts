/**
 * Plain data with bytes in it, as it travels in a message, which is JSON: the bytes are beside the data, each with the keys that lead to its
 * place. So nothing in the data itself can be taken for bytes.
 */
export interface Packed {
  readonly data?: unknown;
  readonly bytes?: readonly { readonly at: readonly string[]; readonly base64: string }[];
}

export function packed(value: unknown): Packed {
  const bytes: { at: string[]; base64: string }[] = [];
  const data = withoutBytes(value, [], (at, found) => bytes.push({ at, base64: base64Of(found) }));
  return bytes.length === 0 ? { data: value } : { data, bytes };
}

export function unpacked({ data, bytes = [] }: Packed): unknown {
  const whole = { data };
  for (const { at, base64 } of bytes) {
    const path = ["data", ...at];
    const last = path.pop()!;
    const holder = path.reduce<unknown>(ownMember, whole);
    ownMember(holder, last);
    (holder as Record<string, unknown>)[last] = Buffer.from(base64, "base64");
  }
  return whole.data;
}

type Found = (at: string[], bytes: Uint8Array) => void;

function withoutBytes(value: unknown, at: readonly string[], found: Found): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) {
    found([...at], value);
    return null;
  }
  if (Array.isArray(value)) return value.map((each, index) => withoutBytes(each, [...at, String(index)], found));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutBytes(each, [...at, key], found)]));
}

function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

/** What an object inherits is no place for bytes. */
function ownMember(holder: unknown, key: string): unknown {
  if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key))
    throw new TypeError(`there is no place for bytes at ${key}`);
  return (holder as Record<string, unknown>)[key];
}
