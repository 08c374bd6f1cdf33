import type { ModelFacts } from "@corral/protocol";
import { versioned } from "./asking.ts";
import type { FindReach, Reach } from "./choice.ts";
import { refused, unavailable } from "./failure.ts";
import { ollamaAddress } from "./ollama-address.ts";
import { shownFacts } from "./ollama-show.ts";
import type { Access } from "./port.ts";

/** A model as its provider lists it. */
interface ListedModel {
  readonly id: string;
  /** What the provider tells of it besides. */
  readonly facts: ModelFacts;
}

const patienceMs = 10_000;

/**
 * The models that a provider lists: a question that costs nothing, and that only a valid key is answered. Rejects as a
 * model request does.
 */
export async function listModels({ driver, access }: Reach, signal?: AbortSignal): Promise<readonly ListedModel[]> {
  const { url, headers } = questionFor(driver, access);
  const limit = AbortSignal.timeout(patienceMs);
  const name = access.name ?? driver;
  let response: Response;
  try {
    response = await fetch(url, {
      headers: { ...access.headers, ...headers },
      redirect: "error",
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
  } catch {
    signal?.throwIfAborted();
    throw unavailable(`The provider ${name} cannot be reached at ${new URL(url).origin}.`);
  }
  const { status } = response;
  if (status === 401 || status === 403 || (status === 400 && driver === "google"))
    throw refused(`The provider ${name} refuses the key (status ${status}).`, `Run \`corral auth login ${name}\`.`);
  if (!response.ok) throw unavailable(`The provider ${name} answered with status ${status}.`);
  const models = listed(await response.json().catch(() => undefined));
  return driver === "ollama" ? Promise.all(models.map((model) => withShown(model, access, limit))) : models;
}

/** Ollama tells of each by itself. */
async function withShown(model: ListedModel, access: Access, signal: AbortSignal): Promise<ListedModel> {
  const { headers } = questionFor("ollama", access);
  try {
    const response = await fetch(`${ollamaAddress(access.baseUrl)}/api/show`, {
      method: "POST",
      headers: { "content-type": "application/json", ...access.headers, ...headers },
      body: JSON.stringify({ model: model.id }),
      redirect: "error",
      signal,
    });
    return response.ok ? { ...model, facts: shownFacts(await response.json()) } : model;
  } catch {
    return model;
  }
}

/** Models of all these providers, at once. Those that cannot be asked, or take long, are left out. */
export async function listAll(
  names: readonly string[],
  reach: FindReach,
  { withinMs = 2_000 }: { readonly withinMs?: number } = {},
): Promise<ReadonlyMap<string, readonly ListedModel[]>> {
  const limit = AbortSignal.timeout(withinMs);
  const lists = names.map(async (name) => {
    try {
      return [[name, await listModels(await reach(`${name}/any`), limit)] as const];
    } catch {
      return [];
    }
  });
  return new Map((await Promise.all(lists)).flat());
}

interface Question {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function questionFor(driver: string, { key = "", baseUrl }: Access): Question {
  const bearer = key === "" ? {} : { authorization: `Bearer ${key}` };
  switch (driver) {
    case "anthropic":
      return {
        url: `${versioned(baseUrl ?? "https://api.anthropic.com", "v1")}/models?limit=1000`,
        headers: { "x-api-key": key, "anthropic-version": "2023-06-01" },
      };
    case "openai":
      return { url: `${versioned(baseUrl ?? "https://api.openai.com", "v1")}/models`, headers: bearer };
    case "google":
      return {
        url: `${versioned(baseUrl ?? "https://generativelanguage.googleapis.com", "v1beta")}/models?pageSize=1000`,
        headers: { "x-goog-api-key": key },
      };
    case "ollama":
      return { url: `${ollamaAddress(baseUrl)}/api/tags`, headers: bearer };
    default:
      return { url: `${(baseUrl ?? "").replace(/\/+$/, "")}/models`, headers: bearer };
  }
}

/** Lists have one of two shapes, `data` with ids or `models` with names. */
function listed(answer: unknown): readonly ListedModel[] {
  const { data, models } = (answer ?? {}) as { data?: unknown; models?: unknown };
  const entries: readonly unknown[] = Array.isArray(data) ? data : Array.isArray(models) ? models : [];
  return entries.flatMap((entry) => {
    const { id, name, inputTokenLimit, context_length, max_model_len } = Object(entry) as Record<string, unknown>;
    const called = typeof id === "string" ? id : typeof name === "string" ? name.replace(/^models\//, "") : undefined;
    const context = [inputTokenLimit, context_length, max_model_len].find((each) => typeof each === "number");
    return called === undefined ? [] : [{ id: called, facts: typeof context === "number" ? { context } : {} }];
  });
}
