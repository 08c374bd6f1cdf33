import { type Command, command, declare } from "../command.ts";
import { sessionWords } from "../sessions/session-words.ts";

export const questions = declare({
  name: "questions",
  group: "work",
  usage: "questions [SESSION] [--all] [--json]",
  summary: "List what sessions ask you",
  details: `Lists what sessions ask you, and how long there is to answer. ${sessionWords} Without SESSION it is all of them. \`corral answer\` answers.`,
  examples: [
    ["corral questions", "what waits for an answer"],
    ["corral questions @last --all", "also what was answered, by whom and how"],
  ],
  args: {
    all: { type: "boolean", description: "also those that had an answer" },
    json: { type: "boolean", description: "print each as a line of JSON" },
  },
  words: "any",
  takesSessions: true,
});

export const answer = declare({
  name: "answer",
  group: "work",
  usage: "answer [QUESTION] [CHOICE | WORDS…] [--cancel] [--json]",
  summary: "Answer what a session asks: allow a call, choose, or say it in words",
  details: `Answers what a session asks: by a choice's number or name, in words, or both. QUESTION is an id, or its beginning or end; without, it is the only one that waits, unless it asks you to allow something. Without an answer the question is shown and you are
asked. The first answer counts; a later one is told whose that was. Words at an approval say no and are told to the agent.`,
  examples: [
    ["corral answer", "be asked"],
    ["corral answer que_01k… once", "allow this very call, once"],
    ["corral answer que_01k… deny use the other registry", "say no, and what instead"],
    ["corral answer que_01k… --cancel", "give no answer; the agent goes on without"],
  ],
  example: "corral answer que_… once",
  args: {
    cancel: { type: "boolean", description: "close it without an answer" },
    json: { type: "boolean", description: "print the answer as a line of JSON" },
  },
  words: "any",
});

export const recover = declare({
  name: "recover",
  group: "work",
  usage: "recover [SESSION] [CALL] [--retry | --abandon] [--json]",
  summary: "Decide on calls of which nobody can tell how they ended",
  details: `Shows calls that had begun and of which nobody can tell how they ended, or decides on one. ${sessionWords} Without SESSION it is that one, too. Corral never does such a call again by itself: it may have done its work. Look at what is there
(\`corral diff\`), then choose. Without CALL it is the only one that waits.`,
  examples: [
    ["corral recover", "what waits for your word"],
    ["corral recover --abandon", "do not run it again; the agent is told"],
    ["corral recover @last cal_… --retry", "run it once more"],
  ],
  args: {
    retry: { type: "boolean", description: "run it again, though it may have done something" },
    abandon: { type: "boolean", description: "do not run it again" },
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
