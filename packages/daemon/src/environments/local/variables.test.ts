import { expect, test } from "vitest";
import { sharedVariables } from "./variables.ts";

test("programs get the operator's variables without keys, tokens, passwords and Corral's own", () => {
  const harmless = {
    PATH: "/usr/bin",
    HOME: "/home/ann",
    LANG: "C.UTF-8",
    EDITOR: "vi",
    OLLAMA_HOST: "127.0.0.1:11434",
    AUTHOR: "Ann",
    TOKENIZERS_PARALLELISM: "false",
    KEYBOARD: "de",
    http_proxy: "http://proxy:3128",
  };
  const secret = {
    ANTHROPIC_API_KEY: "x",
    OPENAI_API_KEY: "x",
    GEMINI_API_KEY: "x",
    AWS_SECRET_ACCESS_KEY: "x",
    AWS_ACCESS_KEY_ID: "x",
    GITHUB_TOKEN: "x",
    NPM_TOKEN: "x",
    npm_config__auth: "x",
    PGPASSWORD: "x",
    MYSQL_PWD: "x",
    DB_PASSWORD: "x",
    GOOGLE_APPLICATION_CREDENTIALS: "x",
    SSH_AUTH_SOCK: "x",
    CORRAL_HOME: "x",
    CORRAL_TOKEN: "x",
    NODE_CHANNEL_FD: "3",
    DATABASE_URL: "x",
    https_proxy: "http://ann:secret@proxy:3128",
  };
  expect(sharedVariables({ ...harmless, ...secret, UNSET: undefined })).toEqual(harmless);
});
