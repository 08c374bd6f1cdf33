import { CorralError } from "@corral/protocol";
import type { FindReach, Reach } from "../../providers/index.ts";
import type { DaemonChannel } from "./worker.ts";

/**
 * How providers are reached, as the daemon tells it over the channel: keys are in no runner's environment, and only a
 * runner that is about to ask a model is given one.
 */
export function reachByDaemon(channel: DaemonChannel, onChange: () => void): FindReach {
  const asked = new Map<number, PromiseWithResolvers<Reach>>();
  let last = 0;
  channel.onMessage((message) => {
    if (message.say === "reaches-changed") return onChange();
    if (message.say !== "reached") return undefined;
    const answer = asked.get(message.request);
    asked.delete(message.request);
    if ("reach" in message) return answer?.resolve(message.reach);
    return answer?.reject(CorralError.fromProblem(message.problem));
  });
  return (model) => {
    const request = (last += 1);
    const answer = Promise.withResolvers<Reach>();
    asked.set(request, answer);
    channel.send({ say: "reach", request, model });
    return answer.promise;
  };
}
