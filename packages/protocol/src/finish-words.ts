import type { EventData } from "./event.ts";

/** Of a reply that is over without being whole, which looks as if it were: what became of the rest. */
export function finishWords({ finish }: Pick<EventData<"turn.replied">, "finish">): string | undefined {
  switch (finish) {
    case "length":
      return "the reply is cut here: it is as long as the model may answer; say that it is to go on";
    case "content-filter":
      return "the provider held back the rest of the reply";
    default:
      return undefined;
  }
}
