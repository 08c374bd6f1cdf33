import { CorralError, newId, type SessionId } from "@corral/protocol";
import { expect, test } from "vitest";
import { openCapabilities } from "./capabilities.ts";
import type { CallContext, CallHow } from "./port.ts";
import { RunScope } from "./run-scope.ts";

const aRun = () => new RunScope(newId("session"), () => undefined);

/** Of capabilities that no slice has. */
function opened(
  provisions: Readonly<Record<string, (session: SessionId, ask: number, context: CallContext) => Promise<unknown>>>,
  run = aRun(),
) {
  const capabilities = openCapabilities(provisions);
  const daemon = capabilities.for(run);
  return {
    capabilities,
    call: (name: string, ask: unknown, how?: CallHow): Promise<unknown> =>
      daemon.call(name as never, ask as never, how),
  };
}

test("a call is answered by the implementation of that name, which is told the session and the run", async () => {
  const run = aRun();
  const seen: unknown[] = [];
  const implementation = async (session: SessionId, ask: number, context: CallContext) => {
    seen.push(session, context.run);
    return 2 * ask;
  };
  const { call, capabilities } = opened({ "test.double": implementation }, run);
  expect(await call("test.double", 21)).toBe(42);
  expect(seen).toEqual([run.session, run]);
  expect(capabilities.names).toEqual(["test.double"]);
});

test("what nobody provides is refused, also under names that every object has", async () => {
  const { call } = opened({ "test.double": async (_, ask) => ask });
  for (const name of ["test.wait", "toString", "__proto__"])
    await expect(call(name, {})).rejects.toMatchObject({
      code: "capability.missing",
      message: `This daemon does not provide ${name}.`,
      retry: "never",
    });
});

test("a capability has one implementation", () => {
  const { capabilities } = opened({ "test.double": async (_, ask) => ask });
  expect(() => capabilities.provide({ "test.double": async () => 0 } as object)).toThrow("provided twice");
});

test("calls reach their implementations in the order in which they were made", async () => {
  const entered: unknown[] = [];
  const { call } = opened({
    async "test.double"(_, ask) {
      entered.push(ask);
      return ask;
    },
    async "test.wait"() {
      entered.push("wait");
      return {};
    },
  });
  const answers = [call("test.double", 1), call("test.wait", {}), call("test.double", 2)];
  expect(entered).toEqual([1, "wait", 2]);
  await Promise.all(answers);
});

test("what an implementation throws rejects the call, also when it throws before it has a promise", async () => {
  const { call } = opened({
    "test.double": () => {
      throw new CorralError("not-found", "There is no such number.");
    },
  });
  await expect(call("test.double", 1)).rejects.toMatchObject({ code: "not-found" });
});

test("a call whose signal is aborted rejects at once, and its implementation hears of it", async () => {
  const contexts: CallContext[] = [];
  const { call } = opened({
    "test.wait": (_, __, context) => (contexts.push(context), new Promise(() => undefined)),
  });
  const enough = new AbortController();
  const waiting = call("test.wait", {}, enough);
  enough.abort(new Error("no more patience"));
  await expect(waiting).rejects.toThrow("no more patience");
  expect(contexts.map(({ signal }) => signal.aborted)).toEqual([true]);
  await expect(call("test.wait", {}, enough)).rejects.toThrow("no more patience");
  expect(contexts).toHaveLength(1);
});

test("what is to be done after a run is done when it ends, or at once when it has; a failure is told and stops nothing", async () => {
  const failures: unknown[] = [];
  const run = new RunScope(newId("session"), (error) => failures.push(error));
  const done: string[] = [];
  run.onEnd(() => Promise.reject(new Error("a defect")));
  run.onEnd(async () => void done.push("first"));
  expect([done, run.signal.aborted]).toEqual([[], false]);
  await run.end();
  expect([done, run.signal.aborted]).toEqual([["first"], true]);
  run.onEnd(() => void done.push("late"));
  expect(done).toEqual(["first", "late"]);
  expect(failures).toEqual([new Error("a defect")]);
});
