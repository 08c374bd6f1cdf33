/** Where a token may be given that is used in place of the owner's. */
export const tokenVariable = "CORRAL_TOKEN";

/**
 * Takes the token out of the variables, so that no program that this one starts gets it: a daemon, git, a browser. What no header can
 * carry is no token either, and is refused as one.
 */
export function takeToken(variables: Record<string, string | undefined>): string | undefined {
  const given = variables[tokenVariable];
  delete variables[tokenVariable];
  return given?.trim().replaceAll(/[^\x21-\x7e]/g, "?");
}
