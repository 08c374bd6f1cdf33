import { CorralError, type CredentialTest, type CredentialView, event, type SetCredential } from "@corral/protocol";
import type { By, Log } from "../log/index.ts";
import {
  type FindReach,
  keyVariables,
  listModels,
  openReach,
  providerCalled,
  providerNames,
  type ProviderSettings,
  unknownProvider,
  valueOf,
} from "../providers/index.ts";
import { passwordsIn, type Secret } from "../secrets/index.ts";
import { keyPrintedBy } from "./command.ts";
import { CredentialFile } from "./store.ts";

/**
 * Keys of providers: those that the environment has, and those that are kept in the home.
 *
 * 1. A key leaves by `reach` alone, for the process that is about to ask a model; lists, events and errors hold none.
 * 2. Whatever key is given out was told as a secret before, and so is each that is kept or found, as soon as it is known.
 * 3. Whoever holds one is told by `onChange` when it may be another.
 */
export interface Credentials {
  /** Throws also `credentials.unusable` and `credentials.exposed`. */
  readonly reach: FindReach;
  /** Throws what `reach` would of a model whose provider has no key at all. A program that prints one is not run for it. */
  mustReach(model: string): Promise<void>;
  /** Every provider with where its key is from. */
  list(): Promise<readonly CredentialView[]>;
  /** On the disk, and recorded by its kind, when it resolves. Throws `model.unknown` for a provider that there is not. */
  put(provider: string, credential: SetCredential, by: By): Promise<void>;
  /** Whether there was one. */
  remove(provider: string, by: By): Promise<boolean>;
  /** Asks the provider something that costs nothing. */
  test(provider: string): Promise<CredentialTest>;
  onChange(listener: () => void): void;
  /** Tells all secrets that can be found without running a program. What cannot be read is told by whoever needs it. */
  learn(): Promise<void>;
  /** Variables of the environment that may hold keys. */
  variables(): readonly string[];
}

export interface CredentialParts {
  readonly log: Pick<Log, "append">;
  readonly file: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly settings: () => ProviderSettings;
  /** Told each secret that is to be masked from then on. */
  readonly learn: (...secrets: readonly Secret[]) => void;
}

const stream = "credentials";

export function openCredentials(parts: CredentialParts): Credentials {
  const { variables, settings } = parts;
  const file = new CredentialFile(parts.file);
  const listeners: (() => void)[] = [];
  const changed = () => {
    for (const listener of listeners) listener();
  };
  const find = openReach({ variables, settings, key });
  const reach: FindReach = async (model) => {
    const found = await find(model);
    if (found.access.key !== undefined) learnKey(found.access.name ?? "", found.access.key);
    return found;
  };
  const look = openReach({ variables, settings, key: keyOrProgram });
  return {
    reach,
    mustReach: async (model) => void (await look(model)),
    async list() {
      const kept = await file.list();
      return providerNames(settings()).flatMap((name) => viewOf(name, kept) ?? []);
    },
    async put(provider, credential, by) {
      if (providerCalled(provider, settings()) === undefined)
        throw unknownProvider(provider, providerNames(settings()));
      if ("key" in credential) learnKey(provider, credential.key);
      await file.put(provider, credential);
      const kind = "key" in credential ? "key" : "command";
      await parts.log.append({ ...by, stream, events: [event("credential.stored", { provider, kind })] });
      changed();
    },
    async remove(provider, by) {
      const was = await file.remove(provider);
      if (was) await parts.log.append({ ...by, stream, events: [event("credential.removed", { provider })] });
      changed();
      return was;
    },
    async test(provider) {
      try {
        const models = await listModels(await reach(`${provider}/any`));
        return { provider, outcome: "accepted", message: `It lists ${models.length} models.` };
      } catch (error) {
        if (!(error instanceof CorralError)) throw error;
        const { message, hint, retry } = error;
        const outcome = retry === "never" ? "refused" : "unavailable";
        return { provider, outcome, message, ...(hint === undefined ? {} : { hint }) };
      }
    },
    onChange: (listener) => void listeners.push(listener),
    async learn() {
      for (const name of providerNames(settings())) parts.learn(...secretsOf(name));
      const kept = await file.keys().catch(() => new Map<string, string>());
      for (const [provider, each] of kept) learnKey(provider, each);
    },
    variables: () => keyVariables(settings()),
  };

  async function key(provider: string): Promise<string | undefined> {
    const kept = await file.get(provider);
    return kept === undefined || "key" in kept ? kept?.key : keyPrintedBy(kept.command);
  }

  function learnKey(provider: string, value: string): void {
    parts.learn({ name: providerCalled(provider, settings())?.keyVariable ?? `the key of ${provider}`, value });
  }

  /** Those in variables and settings. */
  function secretsOf(provider: string): readonly Secret[] {
    const { keyVariable, baseVariable, baseUrl = "", headers = {} } = providerCalled(provider, settings()) ?? {};
    const key = keyVariable === undefined ? undefined : valueOf(variables, keyVariable);
    const passwords = [...passwordsIn(baseUrl), ...passwordsIn(valueOf(variables, baseVariable) ?? "")];
    return [
      ...(key === undefined ? [] : [{ name: keyVariable!, value: key }]),
      ...passwords.map((value) => ({ name: `the password of ${provider}`, value })),
      // `Bearer KEY`
      ...Object.entries(headers).map(([name, value]) => ({
        name: `the header ${name} of ${provider}`,
        value: value.replace(/^\w+\s+/, ""),
      })),
    ];
  }

  async function keyOrProgram(provider: string): Promise<string | undefined> {
    const kept = await file.get(provider);
    return kept === undefined || "key" in kept ? kept?.key : "printed-when-it-is-needed";
  }

  function viewOf(provider: string, kept: Awaited<ReturnType<CredentialFile["list"]>>): CredentialView | undefined {
    const known = providerCalled(provider, settings());
    if (known === undefined) return undefined;
    const { keyVariable: variable, needsKey: isNeeded } = known;
    const stored = kept.get(provider);
    if (valueOf(variables, variable) !== undefined) return { provider, source: "variable", variable, isNeeded };
    const program = stored?.program === undefined ? {} : { program: stored.program };
    return { provider, source: stored?.kind ?? null, variable, isNeeded, ...program };
  }
}
