import { alwaysChoices, type AskedQuestion, type Judgement } from "@corral/protocol";

/** Whether an agent may reach a host that is on no list. */
export function hostQuestion(asked: {
  readonly agent: string;
  readonly named: string;
  readonly host: string;
  readonly port: number;
  readonly always: Judgement["always"];
  readonly seconds: number;
}): Omit<AskedQuestion, "id"> {
  const { agent, named, host, port, always = [], seconds } = asked;
  return {
    about: { kind: "host", host, port, ...(always.length === 0 ? {} : { always: [...always] }) },
    text: `May the agent reach ${named}?`,
    choices: [
      { id: "once", label: "Allow once" },
      ...(always.length === 0 ? [] : alwaysChoices(agent, named)),
      { id: "deny", label: "Deny" },
    ],
    takesText: false,
    timeLimitMs: seconds * 1000,
  };
}
