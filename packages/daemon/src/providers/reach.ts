import { type Reach, unknownProvider } from "./choice.ts";
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
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ReachParts {
  readonly variables: Variables;
  readonly settings: () => ProviderSettings;
  /** The key that is kept for a provider; it counts where no variable has one. */
  readonly key: (provider: string) => Promise<string | undefined>;
}

/** How each provider is reached, by variables, settings and what is kept. */
export function openReach({ variables, settings, key }: ReachParts): (provider: string) => Promise<Reach> {
  return async (name) => {
    if (name === "rehearsal") return { driver: name, access: {} };
    const known = providerCalled(name, settings());
    if (known === undefined) throw unknownProvider(name, providerNames(settings()));
    const found = valueOf(variables, known.keyVariable) ?? (await key(name));
    if (found === undefined && known.needsKey)
      throw refused(
        `There is no key for the provider ${name}.`,
        `Run \`corral auth login ${name}\`, or set ${known.keyVariable} where the daemon starts.`,
      );
    const baseUrl = valueOf(variables, known.baseVariable) ?? known.baseUrl;
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

function providerNames({ compatible = {} }: ProviderSettings): readonly string[] {
  return [...Object.keys(builtIn), ...Object.keys(compatible)];
}

function providerCalled(name: string, { compatible = {} }: ProviderSettings): KnownProvider | undefined {
  if (Object.hasOwn(builtIn, name)) return builtIn[name];
  const server = Object.hasOwn(compatible, name) ? compatible[name] : undefined;
  if (server === undefined) return undefined;
  const keyVariable = `${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}_API_KEY`;
  return { driver: "compatible", keyVariable, ...server, needsKey: false };
}

function valueOf(variables: Variables, name: string | undefined): string | undefined {
  const value = name === undefined ? "" : (variables[name]?.trim() ?? "");
  return value === "" ? undefined : value;
}
