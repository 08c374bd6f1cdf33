import type { Mask } from "./mask.ts";

/** All strings in what JSON can hold, names of properties included. A model may nest values deeper than a stack reaches. */
export function* stringsIn(value: unknown): Iterable<string> {
  const open = [value];
  while (open.length > 0) {
    const each = open.pop();
    if (typeof each === "string") yield each;
    else if (Array.isArray(each)) for (const item of each) open.push(item);
    else if (typeof each === "object" && each !== null) {
      for (const key of Object.keys(each)) {
        yield key;
        open.push((each as Record<string, unknown>)[key]);
      }
    }
  }
}

/** A copy in which all of them are masked. */
export function scrubbed<T>(value: T, mask: Mask): T {
  const copy = JSON.parse(JSON.stringify({ value })) as { value: T };
  const open: Record<string, unknown>[] = [copy];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const keys = Object.keys(each);
    for (const key of keys) {
      const item = each[key];
      if (typeof item === "string") each[key] = mask.mask(item);
      else if (typeof item === "object" && item !== null) open.push(item as Record<string, unknown>);
    }
    if (keys.some((key) => mask.mask(key) !== key)) rename(each, (key) => mask.mask(key));
  }
  return copy.value;
}

/** All of them are set anew, so that they keep their order. */
function rename(object: Record<string, unknown>, to: (key: string) => string): void {
  const entries = Object.entries(object);
  for (const [key] of entries) Reflect.deleteProperty(object, key);
  for (const [key, value] of entries)
    Object.defineProperty(object, to(key), { value, enumerable: true, writable: true, configurable: true });
}
