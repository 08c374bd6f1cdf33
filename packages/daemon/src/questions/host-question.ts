import type { AskedQuestion, Judgement } from "@corral/protocol";

/** Whether an agent may reach a host that is on no list. */
export function hostQuestion(asked: {
  readonly named: string;
  readonly host: string;
  readonly port: number;
  readonly always: Judgement["always"];
  readonly seconds: number;
}): Omit<AskedQuestion, "id"> {
  const { named, host, port, always = [], seconds } = asked;
  const more = always.length === 0 ? [] : (["session", "project"] as const);
  return {
    about: { kind: "host", host, port, ...(always.length === 0 ? {} : { always: [...always] }) },
    text: `May the agent reach ${named}?`,
    choices: [
      { id: "once", label: "Allow once" },
      ...more.map((scope) => ({ id: scope, label: `Always for this ${scope}`, note: named })),
      { id: "deny", label: "Deny" },
    ],
    takesText: false,
    timeLimitMs: seconds * 1000,
  };
}
