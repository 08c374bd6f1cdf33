import { expect, test } from "vitest";
import { refused, retryAfterMs, unavailable } from "./failure.ts";
import { ProviderFailure } from "./index.ts";

test("a failure that may pass says how long its provider asks to wait", () => {
  const failure: unknown = unavailable("It is busy.", { retryAfterMs: 1_500 });
  expect(failure).toBeInstanceOf(ProviderFailure);
  expect(failure).toMatchObject({ code: "provider.unavailable", retry: "later", retryAfterMs: 1_500 });
});

test("a final failure asks for no wait", () => {
  expect(refused("No.", "Do otherwise.")).toMatchObject({ retry: "never", retryAfterMs: undefined });
});

test("a wait is read from seconds and from a date, and from nothing else", () => {
  const now = Date.UTC(2026, 0, 1);
  const waits = ["7", "0.5", "-3", "Thu, 01 Jan 2026 00:00:09 GMT", "Wed, 31 Dec 2025 00:00:00 GMT", "soon", "", " "];
  expect(waits.map((header) => retryAfterMs(header, now))).toEqual([
    ...[7_000, 500, 0, 9_000, 0],
    ...[undefined, undefined, undefined],
  ]);
  expect(retryAfterMs(undefined, now)).toBeUndefined();
});
