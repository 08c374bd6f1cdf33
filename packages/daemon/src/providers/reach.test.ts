import { expect, test } from "vitest";
import type { ProviderFailure } from "./failure.ts";
import { openReach, type Variables } from "./reach.ts";

const failing = async (variables: Variables, model = "openai/x") => {
  const settings = () => ({ compatible: { mine: { baseUrl: "mine.example/v1" } } });
  const found = openReach({ variables, settings, key: () => Promise.resolve(undefined) })(model);
  return found.then(
    () => "reached",
    (error: unknown) => {
      const { code, message, hint } = error as ProviderFailure;
      return { code, text: `${message} ${hint}` };
    },
  );
};

test.each(["secret\nkey", "secret key", "geheim-ß", "secret\u0000"])(
  "%j is no key, and is not repeated",
  async (key) => {
    expect(await failing({ OPENAI_API_KEY: key })).toEqual({
      code: "provider.refused",
      text: expect.stringMatching(/^(?!.*(secret|geheim)).*Set OPENAI_API_KEY anew/),
    });
  },
);

test.each(["nonsense", "ftp://me:secret@host/", "http://[bad", "file:///etc/passwd"])(
  "%j is no address, and is not repeated",
  async (address) => {
    expect(await failing({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: address })).toEqual({
      code: "provider.refused",
      text: expect.stringMatching(/^(?!.*(secret|passwd)).*Set OPENAI_BASE_URL to one such as/),
    });
  },
);

test("an address in the settings is named by its setting", async () => {
  expect(await failing({}, "mine/x")).toMatchObject({
    text: expect.stringContaining("providers.compatible.mine.baseUrl"),
  });
  expect(await failing({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" })).toBe("reached");
  expect(await failing({ OLLAMA_HOST: "box:1" }, "ollama/x")).toBe("reached");
});
