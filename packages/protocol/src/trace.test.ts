import { expect, test } from "vitest";
import { newTraceId, traceOf, traceparent } from "./trace.ts";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";

test("a trace travels as a header and comes back", () => {
  const made = newTraceId();
  expect(made).toMatch(/^[0-9a-f]{32}$/);
  expect(traceparent(made)).toMatch(new RegExp(`^00-${made}-[0-9a-f]{16}-01$`));
  expect(traceOf(traceparent(made))).toBe(made);
});

test("the header of a later version is read as far as it is known", () => {
  expect(traceOf(`01-${trace}-00f067aa0ba902b7-01-more`)).toBe(trace);
});

test.each([
  undefined,
  ["a", "list"],
  "",
  trace,
  `00-${trace}-00f067aa0ba902b7`,
  `00-${trace}-00f067aa0ba902b7-01-more`,
  `00-${trace.toUpperCase()}-00f067aa0ba902b7-01`,
  `ff-${trace}-00f067aa0ba902b7-01`,
  `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
  `00-${trace}-${"0".repeat(16)}-01`,
  `00-${trace}-00f067aa0ba902b7-01\n`,
])("%j names no trace", (header) => {
  expect(traceOf(header)).toBeUndefined();
});
