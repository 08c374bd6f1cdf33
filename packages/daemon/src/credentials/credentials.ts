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
import { keyPrintedBy } from "./command.ts";
import { CredentialFile } from "./store.ts";

/**
 * Keys of providers: those that the environment has, and those that are kept in the home.
 *
 * 1. A key leaves by `reach` alone, for the process that is about to ask a model; lists, events and errors hold none.
 * 2. Whatever key is given out was hidden from the logs before.
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
  /** Variables of the environment that may hold keys. */
  variables(): readonly string[];
}

export interface CredentialParts {
  readonly log: Pick<Log, "append">;
  readonly file: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly settings: () => ProviderSettings;
  /** Told each key before it is given out. */
  readonly hide: (secret: string) => void;
}

const stream = "credentials";

export function openCredentials(parts: CredentialParts): Credentials {
  const { variables, settings, hide } = parts;
  const file = new CredentialFile(parts.file);
  const listeners: (() => void)[] = [];
  const changed = () => {
    for (const listener of listeners) listener();
  };
  const find = openReach({ variables, settings, key });
  const reach: FindReach = async (model) => {
    const found = await find(model);
    if (found.access.key !== undefined) hide(found.access.key);
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
    variables: () => keyVariables(settings()),
  };

  async function key(provider: string): Promise<string | undefined> {
    const kept = await file.get(provider);
    return kept === undefined || "key" in kept ? kept?.key : keyPrintedBy(kept.command);
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
