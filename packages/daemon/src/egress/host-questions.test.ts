import { expect, test } from "vitest";
import { HostQuestions } from "./host-questions.ts";

const target = { host: "example.org", port: 443 };
const staying = new AbortController().signal;

function questions(quietMs?: number) {
  const asked: { readonly host: string; readonly signal: AbortSignal; answer(isAllowed: boolean): void }[] = [];
  const hosts = new HostQuestions(({ host }, signal) => {
    const answer = Promise.withResolvers<boolean>();
    asked.push({ host, signal, answer: answer.resolve });
    return answer.promise;
  }, quietMs);
  return { hosts, asked };
}

test("connections to one host share one question and its answer", async () => {
  const { hosts, asked } = questions();
  const both = [hosts.mayReach(target, staying), hosts.mayReach(target, staying)];
  expect(asked.map(({ host }) => host)).toEqual(["example.org"]);
  asked[0]!.answer(true);
  expect(await Promise.all(both)).toEqual([true, true]);
});

test("a yes is for those that waited; the next connection asks again", async () => {
  const { hosts, asked } = questions();
  const first = hosts.mayReach(target, staying);
  asked[0]!.answer(true);
  await first;
  void hosts.mayReach(target, staying);
  expect(asked).toHaveLength(2);
});

test("a no is good for a while, and for that host alone", async () => {
  const { hosts, asked } = questions();
  const first = hosts.mayReach(target, staying);
  asked[0]!.answer(false);
  expect(await first).toBe(false);
  expect(await hosts.mayReach(target, staying)).toBe(false);
  void hosts.mayReach({ ...target, host: "example.net" }, staying);
  expect(asked.map(({ host }) => host)).toEqual(["example.org", "example.net"]);
});

test("the question ends when the last who waits has left, and that is no answer", async () => {
  const { hosts, asked } = questions();
  const [one, other] = [new AbortController(), new AbortController()];
  const both = [hosts.mayReach(target, one.signal), hosts.mayReach(target, other.signal)];
  one.abort();
  expect(await both[0]).toBe(false);
  expect(asked[0]!.signal.aborted).toBe(false);
  other.abort();
  expect(await both[1]).toBe(false);
  expect(asked[0]!.signal.aborted).toBe(true);
  asked[0]!.answer(false);
  const askAgain = () => {
    void hosts.mayReach(target, staying);
    return asked.length;
  };
  await expect.poll(askAgain).toBe(2);
});

test("who asks about ever more hosts is refused meanwhile", async () => {
  const { hosts, asked } = questions();
  for (let n = 0; n < 5; n++) void hosts.mayReach({ host: `h${n}.example.org`, port: 443 }, staying);
  expect(await hosts.mayReach(target, staying)).toBe(false);
  expect(asked).toHaveLength(5);
});
