import { type Command, command, declare } from "../command.ts";
import { sessionWords } from "./session-words.ts";

export const run = declare({
  name: "run",
  group: "work",
  usage:
    "run [--json [--deltas]] [--agent NAME] [--model PROVIDER/MODEL] [--effort low|medium|high] [--mode plan|ask|auto] [--env jail|container|local] [--image NAME] [--network off|allow|open] [--workspace copy|in-place] [--dirty | --from SNAPSHOT] [--attach FILE]… [--detach] PROMPT…",
  summary: "Give an agent a task in this repository and watch it work",
  details: `Gives an agent a task in this repository and watches it work. The prompt is read from stdin when it is \`-\`, or when something is piped in and no words are given.
The first Ctrl-C interrupts the agent, the second lets it go on alone. When as many sessions are at work as may be
(\`sessions.atOnce\` in \`corral config\`), it waits in line first.

Exit code: 0 done, 1 failed, 2 wrong usage, 3 waits for you.`,
  examples: [
    ['corral run "add a test for the parser"', "watch it work"],
    ['corral run --detach "update the changelog"', "leave it working; `corral sessions` tells what became of it"],
    ["corral run - < task.md", "take the task from a file"],
    ['corral run --attach shot.png "make it look like this"', "show it an image"],
    ['corral run --dirty "finish what I began"', "with what you have not committed yet"],
    ['corral run --from snp_… "try it another way"', "with what another session had at some moment"],
  ],
  example: 'corral run "add a test for the parser"',
  args: {
    json: { type: "boolean", description: "print each event as a line of JSON" },
    deltas: { type: "boolean", description: "with --json: print live pieces of text and output too" },
    agent: {
      type: "string",
      valueHint: "NAME",
      description: "as this agent: rules that name it count, and what was always allowed to it here (without: main)",
    },
    model: { type: "string", valueHint: "PROVIDER/MODEL", description: "ask this model" },
    effort: {
      type: "string",
      valueHint: "low|medium|high",
      description: "how much the model thinks before it answers, where it does (without: what the settings say of it)",
    },
    mode: {
      type: "string",
      valueHint: "plan|ask|auto",
      description: "write nothing, ask before anything that may write, or (the default) do what the walls allow",
    },
    env: {
      type: "string",
      valueHint: "jail|container|local",
      description: "a jail, a container, or no walls (UNSAFE)",
    },
    image: { type: "string", valueHint: "NAME", description: "of a container; without: the setting container.image" },
    network: {
      type: "string",
      valueHint: "off|allow|open",
      description: "off, allow (the hosts on the list: `corral network`) or open",
    },
    workspace: {
      type: "string",
      valueHint: "copy|in-place",
      description: "work in a private copy (the default), or in this folder itself",
    },
    dirty: { type: "boolean", description: "the copy has what you have not committed yet, too" },
    from: {
      type: "string",
      valueHint: "SNAPSHOT",
      description: "the copy begins with what another session's snapshot holds (`corral snapshots`)",
    },
    attach: {
      type: "string",
      valueHint: "FILE",
      description: "show this image to the model, or tell it this text; may be given several times",
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
  usage: "sessions [--all] [--json] | sessions search WORDS… [--limit N] | sessions delete SESSION [--yes]",
  summary: "List sessions and what each is doing, search what was said in them, or delete one",
  details: `Lists sessions, what each is doing and for how long; searches what was said in them; takes one away for good. Archived ones are left out of the list without --all. A search finds sessions, archived ones too, in which all the words were said
in one place, by you, by the agent, or in the title; the last word may be begun only. Deleting makes all that a session said and did
unreadable and removes its workspace, with work that was not brought into your repository, and its artifacts. It is refused while the session is in the
middle of an activity. ${sessionWords}`,
  examples: [
    ["corral sessions --json | jq -r .id", "only their ids"],
    ["corral sessions search parser dat", "where was that about dates in the parser?"],
    ["corral sessions delete ses_…", "asks, then takes it away"],
  ],
  example: "corral sessions search parser dates",
  args: {
    all: { type: "boolean", description: "archived ones, too" },
    limit: { type: "string", valueHint: "N", description: "with search: at most so many (20)" },
    yes: { type: "boolean", description: "delete without asking" },
    json: { type: "boolean", description: "print each as a line of JSON" },
  },
  words: "any",
  choices: ["search", "delete"],
});

export const attach = declare({
  name: "attach",
  group: "work",
  usage: "attach [SESSION] [--json [--deltas]] | attach --terminal [SHELL|SESSION|TERMINAL]",
  summary: "Watch a session work, or come back to a terminal that was left",
  details: `Watches a session: what happened lately, then text and commands as they come; or sits down at a terminal. ${sessionWords} Without SESSION it is that one, too. Ctrl-C leaves; the session goes on.

--terminal shows a screen as it is, and then what happens. Several can be there at once; the size is that of who changed it last.
A shell or session without a terminal that runs gets a new one; in a session it is within the walls of its agent, in the same files.
Without a word it is the one terminal that is open. Ctrl-\\ leaves it running, \`exit\` ends it; shell and session stay.
What a program prints is obeyed by your terminal as far as it draws; clipboard, window and questions to the terminal are taken out.
Exit code: that of the terminal's shell; 0 when it was left.`,
  examples: [
    ["corral attach", "the latest session of this project"],
    ["corral attach 01k9", "one by the beginning of its id"],
    ["corral attach --terminal", "go on at the terminal where you were"],
    ["corral attach --terminal ses_01k…", "look over an agent's shoulder, in its own environment"],
  ],
  args: {
    json: { type: "boolean", description: "print each event as a line of JSON" },
    deltas: { type: "boolean", description: "with --json: print live pieces of text and output too" },
    terminal: { type: "boolean", description: "a terminal, in whose environment the word says" },
  },
  words: "any",
  takesSessions: true,
});

export const show = declare({
  name: "show",
  group: "work",
  usage: "show [SESSION] [--json]",
  summary: "Show a session as a whole: what was said and done, and how it stands",
  details: `Shows a session as a whole: what was said and done in it, how it stands, and what it used. ${sessionWords} Without SESSION it is that one, too. With --json the first line is the session, each further one an event.`,
  examples: [
    ["corral show | less", "read what the latest session did"],
    ["corral show 01k9 --json | jq -r 'select(.type == \"call.settled\")'", "look for something in it"],
  ],
  args: { json: { type: "boolean", description: "print lines of JSON" } },
  words: "any",
  takesSessions: true,
});

export const interrupt = declare({
  name: "interrupt",
  group: "work",
  usage: "interrupt [SESSION] [--boundary] [--json]",
  summary: "End what a session does, now or after its turn",
  details: `Ends what a session does, now or when its turn has ended. What it did is kept. ${sessionWords} Without SESSION it is that one, too. The queue is parked by it: \`corral queue resume\` or a steer lets the session
go on, also one that waited to be heard: it begins at once. It is final: after a restart the session does not take it up again.`,
  examples: [
    ["corral interrupt", "stop the latest session of this project, its command too"],
    ["corral interrupt @last --boundary", "let the turn finish first"],
  ],
  args: {
    boundary: { type: "boolean", description: "at the end of the turn under way" },
    json: { type: "boolean", description: "print the answer as a line of JSON" },
  },
  words: "any",
  takesSessions: true,
});

export const continueCommand = declare({
  name: "continue",
  aliases: ["resume"],
  group: "work",
  usage: "continue [SESSION] [--json]",
  summary: "Have a session go on: after its limit of turns, a failure, an interrupt, or as it is",
  details: `Has a session go on: the model is asked at least once, also when nothing new was said. ${sessionWords} Without SESSION it is that one, too. It goes on after a failure, after an interrupt, after its limit of turns (then it may
take as many again, the setting turnLimit), and when it is done. One that is at work goes on anyway. One that waits for your answer or
decision says so. \`corral resume\` is the same.

Exit code: 0 it goes on, 1 failed, 2 usage, 3 it waits for you.`,
  examples: [["corral continue @last", "go on"]],
  args: { json: { type: "boolean", description: "print the answer as a line of JSON" } },
  words: "any",
  takesSessions: true,
});

export const rename = declare({
  name: "rename",
  group: "work",
  usage: "rename SESSION TITLE… [--json]",
  summary: "Give a session another title",
  details: `The first title is taken from the first words said to it. ${sessionWords}`,
  examples: [['corral rename @last "the parser, second try"', "find it again more easily"]],
  args: { json: { type: "boolean", description: "print the answer as a line of JSON" } },
  words: "any",
  takesSessions: true,
});

export const archive = declare({
  name: "archive",
  group: "work",
  usage: "archive SESSION [--json]",
  summary: "Take a session off the list",
  details: `Takes a session off the list. It stays as it is and can be found and searched. ${sessionWords} Nothing of it runs until \`corral unarchive\`, or until something is said to it, which brings it back. Refused
while it is in the middle of an activity.`,
  examples: [
    ["corral archive @last", "done with it"],
    ["corral sessions --all", "archived ones too"],
  ],
  args: { json: { type: "boolean", description: "print the answer as a line of JSON" } },
  words: "any",
  takesSessions: true,
});

export const unarchive = declare({
  name: "unarchive",
  group: "work",
  usage: "unarchive SESSION [--json]",
  summary: "Put a session back on the list",
  details: sessionWords,
  examples: [["corral unarchive 01k9", "back on the list"]],
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
