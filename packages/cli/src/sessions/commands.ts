import { type Command, command, declare } from "../command.ts";
import { latestByDefault, sessionWords } from "./session-words.ts";

export const run = declare({
  name: "run",
  group: "work",
  summary: "Give an agent a task in this repository and watch it work",
  example: 'corral run "add a test for the parser"',
  usage:
    "run [--json [--deltas]] [--agent NAME] [--model PROVIDER/MODEL] [--effort low|medium|high] [--mode plan|ask|auto] [--env jail|container|local] [--image NAME] [--network off|allow|open] [--workspace copy|in-place] [--dirty | --from SNAPSHOT] [--attach FILE]… [--detach] PROMPT…",
  details: `The prompt is read from stdin if it is \`-\`, or if something is piped in and no words are given.
The first Ctrl-C interrupts the agent. The second one leaves and lets it work on. If the maximum number of sessions is already at work
(\`sessions.atOnce\` in \`corral config\`), the session waits in line first.

Exit code: 0 done, 1 failed, 2 wrong usage, 3 waits for you.`,
  examples: [
    ['corral run "add a test for the parser"', "watch it work"],
    ['corral run --detach "update the changelog"', "leave it working; `corral sessions` shows how it went"],
    ["corral run - < task.md", "read the task from a file"],
    ['corral run --attach shot.png "make it look like this"', "show the model an image"],
    ['corral run --dirty "finish what I began"', "include your uncommitted changes"],
    ['corral run --from snp_… "try it another way"', "start from a snapshot of another session"],
  ],
  args: {
    json: { type: "boolean", description: "print each event as a line of JSON" },
    deltas: { type: "boolean", description: "with --json: also print text and output while they arrive" },
    agent: {
      type: "string",
      valueHint: "NAME",
      description: 'run as this agent, with its rules and what it may "always" do here (default: main)',
    },
    model: { type: "string", valueHint: "PROVIDER/MODEL", description: "use this model" },
    effort: {
      type: "string",
      valueHint: "low|medium|high",
      description: "how much the model thinks before it answers, if it can (default: from the settings)",
    },
    mode: {
      type: "string",
      valueHint: "plan|ask|auto",
      description: "plan: write nothing; ask: ask before each write; auto (default): do what the jail allows",
    },
    env: {
      type: "string",
      valueHint: "jail|container|local",
      description: "work in a jail (default), in a container, or without walls (UNSAFE)",
    },
    image: {
      type: "string",
      valueHint: "NAME",
      description: "the container's image (default: the setting container.image)",
    },
    network: {
      type: "string",
      valueHint: "off|allow|open",
      description: "reach nothing, the hosts on your list (`corral network`), or everything",
    },
    workspace: {
      type: "string",
      valueHint: "copy|in-place",
      description: "work in a private copy (default), or in this folder itself",
    },
    dirty: { type: "boolean", description: "copy your uncommitted changes, too" },
    from: {
      type: "string",
      valueHint: "SNAPSHOT",
      description: "start with the files of another session's snapshot (`corral snapshots`)",
    },
    attach: {
      type: "string",
      valueHint: "FILE",
      description: "show the model this image or text file; can be repeated",
    },
    detach: { type: "boolean", description: "print the session's id and leave it working" },
    prompt: { type: "positional", required: false },
  },
  repeatable: ["attach"],
  words: "any",
});

export const sessions = declare({
  name: "sessions",
  group: "work",
  summary: "List sessions and what each is doing, search them, or delete one",
  example: "corral sessions search parser dates",
  usage: "sessions [--all] [--json] | sessions search WORDS… [--limit N] | sessions delete SESSION [--yes]",
  details: `The list leaves out archived sessions unless --all is given. A search also finds archived sessions. All its words must occur
together in one message, by you or by the agent, or in the title; the last word may be incomplete. Deleting a session makes everything
that was said and done in it unreadable. It also removes its artifacts and its workspace, including work that you did not merge. A session
that is at work cannot be deleted. ${sessionWords}`,
  examples: [
    ["corral sessions --json | jq -r .id", "print only the ids"],
    ["corral sessions search parser dat", "find where you talked about dates in the parser"],
    ["corral sessions delete ses_…", "delete it after a confirmation"],
  ],
  args: {
    all: { type: "boolean", description: "include archived sessions" },
    limit: { type: "string", valueHint: "N", description: "with search: show at most N (default: 20)" },
    yes: { type: "boolean", description: "delete without asking" },
    json: { type: "boolean", description: "print each session as a line of JSON" },
  },
  words: "any",
  choices: ["search", "delete"],
});

export const attach = declare({
  name: "attach",
  group: "work",
  summary: "Watch a session work, or return to a terminal",
  usage: "attach [SESSION] [--json [--deltas]] | attach --terminal [SHELL|SESSION|TERMINAL]",
  details: `Shows what happened lately, then text and commands as they arrive. ${latestByDefault} Ctrl-C leaves; the session works on.

--terminal shows a terminal's screen and then what happens on it. Several people can be there at once; the last one to resize it sets its size.
A shell or session without a running terminal gets a new one. A session's terminal is inside the walls of its agent, with the same files.
Without a name, the only open terminal is used. Ctrl-\\ leaves it running, \`exit\` ends it; the shell or session stays.
Programs can draw on your terminal, but they cannot reach its clipboard, its window, or ask it questions.
Exit code: that of the terminal's shell; 0 if you left it.`,
  examples: [
    ["corral attach", "watch the latest session of this project"],
    ["corral attach 01k9", "name a session by the beginning of its id"],
    ["corral attach --terminal", "return to the terminal you left"],
    ["corral attach --terminal ses_01k…", "open a terminal in an agent's own environment"],
  ],
  args: {
    json: { type: "boolean", description: "print each event as a line of JSON" },
    deltas: { type: "boolean", description: "with --json: also print text and output while they arrive" },
    terminal: { type: "boolean", description: "attach to a terminal, in the shell or session that is named" },
  },
  words: "any",
  takesSessions: true,
});

export const show = declare({
  name: "show",
  group: "work",
  summary: "Show a whole session: what was said and done, its state, and what it used",
  usage: "show [SESSION] [--json]",
  details: `${latestByDefault} With --json, the first line is the session and each further line is an event.`,
  examples: [
    ["corral show | less", "read what the latest session did"],
    ["corral show 01k9 --json | jq -r 'select(.type == \"call.settled\")'", "search its events"],
  ],
  args: { json: { type: "boolean", description: "print lines of JSON" } },
  words: "any",
  takesSessions: true,
});

export const interrupt = declare({
  name: "interrupt",
  group: "work",
  summary: "Stop what a session is doing, now or after its current turn",
  usage: "interrupt [SESSION] [--boundary] [--json]",
  details: `What the session did so far is kept. ${latestByDefault} An interrupt also parks the queue. \`corral queue resume\` or a steer
lets the session go on; a steer that is already waiting starts at once. An interrupted activity does not start again after a restart.`,
  examples: [
    ["corral interrupt", "stop the latest session of this project, and its command"],
    ["corral interrupt @last --boundary", "let the current turn finish first"],
  ],
  args: {
    boundary: { type: "boolean", description: "stop when the current turn ends" },
    json: { type: "boolean", description: "print the answer as a line of JSON" },
  },
  words: "any",
  takesSessions: true,
});

export const continueCommand = declare({
  name: "continue",
  aliases: ["resume"],
  group: "work",
  summary: "Let a session go on after a failure, an interrupt or its turn limit",
  usage: "continue [SESSION] [--json]",
  details: `The model is asked at least once, even if you said nothing new. ${latestByDefault} After the turn limit, the session may take as
many turns again (the setting turnLimit). A session that is done goes on, too. A session that is at work is left alone. If the session
waits for your answer or decision, the command says so. \`corral resume\` is the same command.

Exit code: 0 it goes on, 1 failed, 2 wrong usage, 3 it waits for you.`,
  examples: [["corral continue @last", "let the latest session go on"]],
  args: { json: { type: "boolean", description: "print the answer as a line of JSON" } },
  words: "any",
  takesSessions: true,
});

export const rename = declare({
  name: "rename",
  group: "work",
  summary: "Change a session's title",
  usage: "rename SESSION TITLE… [--json]",
  details: `A session's first title comes from its first prompt. ${sessionWords}`,
  examples: [['corral rename @last "the parser, second try"', "make it easier to find"]],
  args: { json: { type: "boolean", description: "print the answer as a line of JSON" } },
  words: "any",
  takesSessions: true,
});

export const archive = declare({
  name: "archive",
  group: "work",
  summary: "Take a session off the list",
  usage: "archive SESSION [--json]",
  details: `An archived session is kept and can still be searched. ${sessionWords} Nothing in it runs until \`corral unarchive\`, or until you
say something to it, which puts it back on the list. A session that is at work cannot be archived.`,
  examples: [
    ["corral archive @last", "archive the latest session"],
    ["corral sessions --all", "list archived sessions, too"],
  ],
  args: { json: { type: "boolean", description: "print the answer as a line of JSON" } },
  words: "any",
  takesSessions: true,
});

export const unarchive = declare({
  name: "unarchive",
  group: "work",
  summary: "Put a session back on the list",
  usage: "unarchive SESSION [--json]",
  details: sessionWords,
  examples: [["corral unarchive 01k9", "put it back on the list"]],
  args: { json: { type: "boolean", description: "print the answer as a line of JSON" } },
  words: "any",
  takesSessions: true,
});

export const commands: readonly Command[] = [
  command(run, () => import("./run.ts")),
  command(sessions, () => import("./sessions.ts")),
  command(attach, () => import("./attach.ts")),
  command(show, () => import("./show.ts")),
  command(interrupt, () => import("./interrupt.ts")),
  command(continueCommand, () => import("./continue.ts")),
  command(rename, () => import("./rename.ts")),
  command(archive, () => import("./archive.ts")),
  command(unarchive, () => import("./unarchive.ts")),
];
