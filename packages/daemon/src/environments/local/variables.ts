/** Names that carry what gets one in somewhere: models, hosts of code, clouds, databases. */
const secretName =
  /(^|_)(api_?key|access_?key(_id)?|auth|bearer|credential|passphrase|private_?key|secret|token)s?(_|$)|passw(or)?d|_pwd$/i;

/** Those that say nothing of it in their name, and those that are of this process alone. */
const left = new Set(["SSH_AUTH_SOCK", "SSH_ASKPASS", "DATABASE_URL", "NETRC", "PGPASSFILE", "NODE_OPTIONS", "OLDPWD"]);

/** Corral's own, and what Node told this process about itself. */
const ownName = /^(CORRAL_|NODE_CHANNEL_|NODE_COMPILE_CACHE$|NODE_UNIQUE_ID$)/;

/**
 * What of the operator's variables programs in a local environment get: all but secrets and Corral's own. It is a courtesy and
 * no wall, for whoever has no walls around can read them elsewhere.
 */
export function sharedVariables(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const shared: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined || left.has(name) || ownName.test(name) || secretName.test(name)) continue;
    // A value may hold a password where its name tells nothing: https://ann:secret@host.
    if (/:\/\/[^/\s@:]*:[^/\s@]+@/.test(value)) continue;
    shared[name] = value;
  }
  return { PATH: "/usr/local/bin:/usr/bin:/bin", ...shared };
}
