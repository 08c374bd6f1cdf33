import { expect, test } from "vitest";
import { secretsInVariables } from "./variables.ts";

test("secrets in variables are those whose names say so, and passwords in addresses; a file that holds one is none", () => {
  const variables = {
    ANTHROPIC_API_KEY: "a key",
    npm_config_token: "a token",
    PGPASSWD: "a password",
    GOOGLE_APPLICATION_CREDENTIALS: "/etc/passwd",
    AWS_SECRET: "/no/such+file=",
    HTTPS_PROXY: "http://ann:pass%2Bword@proxy.example:3128",
    KEYBOARD: "us",
    PATH: "/usr/bin",
    GONE_TOKEN: undefined,
  };
  expect(secretsInVariables(variables)).toEqual([
    { name: "ANTHROPIC_API_KEY", value: "a key" },
    { name: "npm_config_token", value: "a token" },
    { name: "PGPASSWD", value: "a password" },
    { name: "AWS_SECRET", value: "/no/such+file=" },
    { name: "HTTPS_PROXY", value: "pass%2Bword" },
    { name: "HTTPS_PROXY", value: "pass+word" },
  ]);
});
