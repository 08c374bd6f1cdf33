/** A sign, or what stands for signs: `one` and `some` within a folder, `any` also across. `perhaps`: the two behind it may be missing. */
export type Token = { readonly sign: string } | "one" | "some" | "any" | "perhaps";

export function signs(text: string): Token[] {
  return text.split("").map((sign) => ({ sign }));
}

/**
 * Whether a text is what the tokens stand for. All places that it may have come to are kept side by side, so that it takes no longer than
 * the text's length times the tokens', whatever they are: an agent chooses the text, and others wait.
 */
export function matches(tokens: readonly Token[], text: string): boolean {
  let places = new Uint8Array(tokens.length + 3);
  let next = new Uint8Array(tokens.length + 3);
  places[0] = 1;
  skip(places, tokens);
  for (let at = 0; at < text.length; at += 1) {
    next.fill(0);
    if (!step(places, next, tokens, text.charAt(at))) return false;
    skip(next, tokens);
    [places, next] = [next, places];
  }
  return places[tokens.length] === 1;
}

/** Whether there is any place left behind a sign. */
function step(places: Uint8Array, next: Uint8Array, tokens: readonly Token[], sign: string): boolean {
  let isAnywhere = false;
  for (let place = 0; place < tokens.length; place += 1) {
    const token = tokens[place] ?? "perhaps";
    if (places[place] === 0 || token === "perhaps" || !fits(token, sign)) continue;
    next[token === "some" || token === "any" ? place : place + 1] = 1;
    isAnywhere = true;
  }
  return isAnywhere;
}

function fits(token: Exclude<Token, "perhaps">, sign: string): boolean {
  return typeof token === "object" ? token.sign === sign : token === "any" || sign !== "/";
}

/** Adds the places that are come to without a sign. */
function skip(places: Uint8Array, tokens: readonly Token[]): void {
  for (let place = 0; place < tokens.length; place += 1) {
    const token = tokens[place] ?? "one";
    if (places[place] === 0 || typeof token === "object" || token === "one") continue;
    places[place + 1] = 1;
    if (token === "perhaps") places[place + 3] = 1;
  }
}
