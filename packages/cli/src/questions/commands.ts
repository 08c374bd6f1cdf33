import { type Command, command, declare } from "../command.ts";
import { latestByDefault, sessionWords } from "../sessions/session-words.ts";

export const questions = declare({
  name: "questions",
  group: "work",
  summary: "List what sessions ask you, and how long you have to answer",
  usage: "questions [SESSION] [--all] [--json]",
  details: `${sessionWords} Without SESSION, the questions of all sessions are listed. \`corral answer\` answers one.`,
  examples: [
    ["corral questions", "list what waits for an answer"],
    ["corral questions @last --all", "include answered questions, with who answered and how"],
  ],
  args: {
    all: { type: "boolean", description: "include questions that were answered" },
    json: { type: "boolean", description: "print each question as a line of JSON" },
  },
  words: "any",
  takesSessions: true,
});

export const answer = declare({
  name: "answer",
  group: "work",
  summary: "Answer a session's question: allow a call, choose, or reply in words",
  example: "corral answer que_… once",
  usage: "answer [QUESTION] [CHOICE | WORDS…] [--cancel] [--json]",
  details: `QUESTION is an id, or the beginning or end of one. Without it, the only open question is used, unless it asks you to allow something.
CHOICE is the number or the name of a choice. Without an answer, the command shows the question and asks you. The first answer counts; later
ones are told who gave it. If a question asks you to allow something, words mean no, and the agent reads them.`,
  examples: [
    ["corral answer", "show the question and ask"],
    ["corral answer que_01k… once", "allow exactly this call, once"],
    ["corral answer que_01k… deny use the other registry", "say no, and what to do instead"],
    ["corral answer que_01k… --cancel", "give no answer; the agent goes on without one"],
  ],
  args: {
    cancel: { type: "boolean", description: "close the question without an answer" },
    json: { type: "boolean", description: "print the answer as a line of JSON" },
  },
  words: "any",
});

export const recover = declare({
  name: "recover",
  group: "work",
  summary: "Decide about calls that were interrupted and may have done something",
  usage: "recover [SESSION] [CALL] [--retry | --abandon] [--json]",
  details: `${latestByDefault} A crash can leave a call that began, and nobody knows how it ended. Corral never repeats such a call on its own,
because it may have done its work. Look at the files (\`corral diff\`), then decide. Without CALL, the only such call is used.`,
  examples: [
    ["corral recover", "list calls that wait for your decision"],
    ["corral recover --abandon", "do not run it again; the agent is told"],
    ["corral recover @last cal_… --retry", "run it again"],
  ],
  args: {
    retry: { type: "boolean", description: "run the call again, although it may have done something" },
    abandon: { type: "boolean", description: "do not run the call again" },
    json: { type: "boolean", description: "print lines of JSON" },
  },
  words: "any",
  takesSessions: true,
});

export const commands: readonly Command[] = [
  command(questions, () => import("./questions.ts")),
  command(answer, () => import("./answer.ts")),
  command(recover, () => import("./recover.ts")),
];
