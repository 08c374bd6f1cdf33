import { expect, test } from "vitest";
import { ollamaAddress } from "./ollama-address.ts";

test.each([
  [undefined, "http://127.0.0.1:11434"],
  ["", "http://127.0.0.1:11434"],
  ["127.0.0.1", "http://127.0.0.1:11434"],
  ["0.0.0.0", "http://127.0.0.1:11434"],
  ["0.0.0.0:8000", "http://127.0.0.1:8000"],
  [":8000", "http://127.0.0.1:8000"],
  ["gpu.example:8000", "http://gpu.example:8000"],
  ["http://gpu.example", "http://gpu.example"],
  ["https://gpu.example/ollama/", "https://gpu.example/ollama"],
  ["[::1]:8000", "http://[::1]:8000"],
  ["not a host", "http://127.0.0.1:11434"],
])("OLLAMA_HOST %o means %s", (host, address) => {
  expect(ollamaAddress(host)).toBe(address);
});
