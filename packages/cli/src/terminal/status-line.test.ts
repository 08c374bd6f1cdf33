import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { spent, StatusLine } from "./status-line.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function stage({ isAlive = true, columns = 80 } = {}) {
  let text = "";
  const out = { write: (piece: string) => void (text += piece), colour: false, columns };
  const line = new StatusLine(out, { isAlive, now: () => Date.now() });
  const taken = () => {
    const seen = text.replaceAll("\r\u001b[2K", "<erase>");
    text = "";
    return seen;
  };
  return { line, taken };
}

test("what is under way moves, tells its time, and is gone before anything else is printed", () => {
  const { line, taken } = stage();
  line.begin("a", "npm test");
  vi.advanceTimersByTime(200);
  expect(taken()).toBe("<erase>⠙ npm test  0.1 s<erase>⠹ npm test  0.2 s");
  line.print("words\n");
  expect(taken()).toBe("<erase>words\n");
  expect(line.end("a")).toBe(200);
  vi.advanceTimersByTime(1000);
  expect(taken()).toBe("");
});

test("it is not drawn in the middle of a line, nor while somebody else uses the terminal", () => {
  const { line, taken } = stage();
  line.begin("a", "x");
  line.print("half a li");
  vi.advanceTimersByTime(300);
  expect(taken()).toBe("half a li");
  line.print("ne\n");
  line.hide();
  vi.advanceTimersByTime(300);
  expect(taken()).toBe("ne\n");
  line.show();
  vi.advanceTimersByTime(100);
  expect(taken()).toContain("x  0.7 s");
  line.close();
  expect(taken()).toBe("<erase>");
});

test("it fits a narrow terminal and is inert", () => {
  const { line, taken } = stage({ columns: 20 });
  line.begin("a", "one");
  line.begin("b", "\u001b[2J a long command\nof two lines");
  vi.advanceTimersByTime(100);
  expect(taken()).toBe("<erase>⠙ … and 1 more  0.1 s");
  line.close();
});

test("elsewhere than at a terminal there is none", () => {
  const { line, taken } = stage({ isAlive: false });
  line.begin("a", "x");
  vi.advanceTimersByTime(300);
  line.print("text\n");
  expect(taken()).toBe("text\n");
  expect(line.end("a")).toBeUndefined();
});

test("a time is said as people say it", () => {
  expect([120, 9_960, 61_000, 150_000].map(spent)).toEqual(["0.1 s", "10.0 s", "61 s", "2 min 30 s"]);
});
