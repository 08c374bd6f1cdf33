import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Countdown } from "./countdown.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function opened(ms: number) {
  let shown = "";
  const out = { write: (text: string) => void (shown += text), colour: false, columns: 80 };
  const countdown = new Countdown(out, ms);
  return { countdown, lines: () => shown.split("\r\u001b[2K").slice(1) };
}

test("seconds are counted down on one line, which is gone in the end", () => {
  const { lines } = opened(2_000);
  vi.advanceTimersByTime(10_000);
  expect([...new Set(lines())]).toEqual(["asked again in 2 s", "asked again in 1 s", ""]);
  expect(lines().at(-1)).toBe("");
});

test("whoever has something to say ends it, once", () => {
  const { countdown, lines } = opened(60_000);
  countdown.end();
  countdown.end();
  vi.advanceTimersByTime(10_000);
  expect(lines()).toEqual(["asked again in 60 s", ""]);
});
