import { type FindReach, parseModel, unknownProvider } from "./choice.ts";
import { refused } from "./failure.ts";
import type { Access, Patience } from "./port.ts";

/** Variables of the process, as `process.env` has them. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** What the settings say of providers. */
export interface ProviderSettings {
  readonly patience?: Patience;
  readonly openai?: Pick<Access, "api" | "stores">;
  /** Servers that are like OpenAI's, by the names that models of theirs are written with. */
  readonly compatible?: Readonly<Record<string, CompatibleServer>>;
}

export interface CompatibleServer {
  readonly baseUrl: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface ReachParts {
  readonly variables: Variables;
  readonly settings: () => ProviderSettings;
  /** The key that is kept for a provider; it counts where no variable has one. */
  readonly key: (provider: string) => Promise<string | undefined>;
}

/** How each provider is reached, by variables, settings and what is kept. */
export function openReach({ variables, settings, key }: ReachParts): FindReach {
  return async (model) => {
    const { provider: name } = parseModel(model);
    if (name === "rehearsal") return { driver: name, access: {} };
    const known = providerCalled(name, settings());
    if (known === undefined) throw unknownProvider(name, providerNames(settings()));
    const found = valueOf(variables, known.keyVariable) ?? (await key(name));
    if (found === undefined && known.needsKey)
      throw refused(
        `There is no key for the provider ${name}.`,
        `Run \`corral auth login ${name}\`, or set ${known.keyVariable} where the daemon starts.`,
      );
    if (found !== undefined && !/^[\x21-\x7e]+$/.test(found)) throw noKey(name, known.keyVariable);
    const baseUrl = valueOf(variables, known.baseVariable) ?? known.baseUrl;
    if (baseUrl !== undefined && known.driver !== "ollama" && !isAddress(baseUrl)) throw noAddress(name, known);
    const { patience, openai } = settings();
    return {
      driver: known.driver,
      access: {
        name,
        ...(found === undefined ? {} : { key: found }),
        ...(baseUrl === undefined ? {} : { baseUrl }),
        ...(known.headers === undefined ? {} : { headers: known.headers }),
        ...(patience === undefined ? {} : { patience }),
        ...(name === "openai" ? openai : {}),
      },
    };
  };
}

/** What cannot be sent is told before anything is; neither it nor an address, which may hold a password, is repeated. */
function noKey(name: string, variable: string) {
  return refused(
    `What is given as the key for the provider ${name} is none: it has blanks, breaks, or other than plain letters.`,
    `Set ${variable} anew, or run \`corral auth login ${name}\`.`,
  );
}

function noAddress(name: string, { baseVariable }: KnownProvider) {
  const where = baseVariable ?? `providers.compatible.${name}.baseUrl`;
  return refused(`The address of the provider ${name} is none.`, `Set ${where} to one such as https://host/v1.`);
}

function isAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}

interface KnownProvider {
  readonly driver: string;
  readonly keyVariable: string;
  readonly baseVariable?: string;
  readonly baseUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly needsKey: boolean;
}

/** Those that need no settings. */
export const builtIn: Readonly<Record<string, KnownProvider>> = {
  anthropic: {
    driver: "anthropic",
    keyVariable: "ANTHROPIC_API_KEY",
    baseVariable: "ANTHROPIC_BASE_URL",
    needsKey: true,
  },
  openai: { driver: "openai", keyVariable: "OPENAI_API_KEY", baseVariable: "OPENAI_BASE_URL", needsKey: true },
  google: { driver: "google", keyVariable: "GEMINI_API_KEY", baseVariable: "GEMINI_BASE_URL", needsKey: true },
  ollama: { driver: "ollama", keyVariable: "OLLAMA_API_KEY", baseVariable: "OLLAMA_HOST", needsKey: false },
};

export function providerNames({ compatible = {} }: ProviderSettings): readonly string[] {
  return [...Object.keys(builtIn), ...Object.keys(compatible)];
}

export function providerCalled(name: string, { compatible = {} }: ProviderSettings): KnownProvider | undefined {
  if (Object.hasOwn(builtIn, name)) return builtIn[name];
  const server = Object.hasOwn(compatible, name) ? compatible[name] : undefined;
  if (server === undefined) return undefined;
  const keyVariable = `${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}_API_KEY`;
  const headers = server.headers === undefined ? {} : { headers: server.headers };
  return { driver: "compatible", keyVariable, baseUrl: server.baseUrl, ...headers, needsKey: false };
}

export function valueOf(variables: Variables, name: string | undefined): string | undefined {
  const value = name === undefined ? "" : (variables[name]?.trim() ?? "");
  return value === "" ? undefined : value;
}

/** Variables that may hold a provider's key: whoever is not to have one gets none of them. */
export function keyVariables(settings: ProviderSettings): readonly string[] {
  return providerNames(settings).flatMap((name) => providerCalled(name, settings)?.keyVariable ?? []);
}
