import { expect, test } from "vitest";
import { event, eventData, type NewEvent } from "./event.ts";
import { endTypesOf, isAbout, isEndOf, isKnown } from "./event-types.ts";

test("a call and a question have five and four ends, and a command of a person's shell has two", () => {
  expect(endTypesOf("call")).toEqual([
    "call.settled",
    "call.failed",
    "call.declined",
    "call.interrupted",
    "call.unknown",
  ]);
  expect(endTypesOf("question")).toEqual([
    "question.answered",
    "question.defaulted",
    "question.expired",
    "question.cancelled",
  ]);
  expect(endTypesOf("shell", "command")).toEqual(["shell.closed", "shell.command-ended", "shell.command-unknown"]);
});

test("an event ends its own subject and no other", () => {
  const declined: NewEvent = event("call.declined", { id: "cal_a", by: "rules", reason: "no" });
  expect([isEndOf("call", declined), isEndOf("question", declined), isAbout("call", declined)]).toEqual([
    true,
    false,
    true,
  ]);
  const started: NewEvent = event("call.started", { id: "cal_a", attempt: 1 });
  expect([isEndOf("call", started), isAbout("call", started), isAbout("turn", started)]).toEqual([false, true, false]);
});

test("every stored type is known, and a type of a newer program is about nothing", () => {
  const wire = { seq: 1, stream: "s", version: 1, typeVersion: 1, actor: "x", approximateCreationTime: "", data: {} };
  expect(Object.keys(eventData).filter((type) => !isKnown({ ...wire, type }))).toEqual([]);
  const newer = { ...wire, type: "pony.born" };
  expect([isKnown(newer), isAbout("call", newer as never), isEndOf("call", newer as never)]).toEqual([
    false,
    false,
    false,
  ]);
});
