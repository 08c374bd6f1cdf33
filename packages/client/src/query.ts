/** The part of an address behind the question mark; what is undefined is left out. */
export function queryOf(parts: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parts)) if (value !== undefined) query.set(name, String(value));
  return query.toString();
}
