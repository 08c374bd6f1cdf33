import type { AnswerGiven, RehearsalScript, RehearsedPart, RehearsedTurn } from "@corral/protocol";

/** What the agent is asked to do. */
export const task = "The test fails. Find out why and mend it.";

const rule = `if [ $((year % 4)) -eq 0 ]; then
  echo leap
else
  echo common
fi
`;

const mended = `if [ $((year % 400)) -eq 0 ]; then
  echo leap
elif [ $((year % 100)) -eq 0 ]; then
  echo common
elif [ $((year % 4)) -eq 0 ]; then
  echo leap
else
  echo common
fi
`;

/** The repository that the agent works on. It needs nothing but /bin/sh, which every jail has. */
export const files: Readonly<Record<string, string>> = {
  "leap.sh": `#!/bin/sh
# Tells whether a year is a leap year.
year=$1

${rule}`,
  "test.sh": `#!/bin/sh
# Asks leap.sh about years of which the answer is known.
failed=0

check() {
  told=$(sh leap.sh "$1")
  if [ "$told" = "$2" ]; then
    echo "ok    $1 $2"
  else
    echo "FAIL  $1 should be $2, is $told"
    failed=1
  fi
}

check 2023 common
check 2024 leap
check 2000 leap
check 1900 common
exit $failed
`,
};

/** How fast the agent speaks: for a person who reads along, or as fast as it goes. */
export type Pace = "read-along" | "at-once";

/** All that the agent says and does, with what follows from the answer to its question. */
export function play(answer: AnswerGiven, pace: Pace): RehearsalScript {
  return { turns: [...beforeQuestion(pace), ...afterAnswer(answer, pace)] };
}

const adding = "Yes, add 2100";

export const usualAnswer: AnswerGiven = { choice: "1" };

function beforeQuestion(pace: Pace): RehearsedTurn[] {
  const turn = turnAt(pace);
  return [
    turn("I run the test first, to see it fail.", calls("shell", { command: "sh test.sh" })),
    {
      ...turn(
        "**1900** is taken for a leap year. I read the code and its test.",
        calls("read", { path: "leap.sh" }),
        calls("read", { path: "test.sh" }),
      ),
      expectResult: "FAIL  1900",
    },
    turn(
      "Found it: `leap.sh` only asks whether 4 divides the year. But full centuries are leap years only when 400 divides them.",
      calls("edit", { path: "leap.sh", old: rule, new: mended }),
    ),
    turn("Once more:", calls("shell", { command: "sh test.sh" })),
    {
      ...turn(
        "All four pass. Now I try to install it for everybody, which nobody asked me to do:",
        calls("shell", { command: "cp leap.sh /usr/local/bin/leap" }),
      ),
      expectResult: "ok    1900",
    },
    turn(
      "The jail lets me write to my own copy and nothing else. One thing is yours to decide.",
      calls("ask", {
        question: "The next year that this would have got wrong is 2100. Shall the test ask about it, too?",
        choices: [adding, "No, leave the test alone"],
        default: adding,
        timeLimitSeconds: 120,
      }),
    ),
  ];
}

function afterAnswer(answer: AnswerGiven, pace: Pace): RehearsedTurn[] {
  const turn = turnAt(pace);
  const summary = "- `leap.sh` knows full centuries now";
  if (answer.choice === "2") return [turn(`Then I am done.\n\n${summary}\n- \`test.sh\` is as it was, and passes`)];
  const aside =
    answer.choice === undefined ? "I follow a script and cannot take up words of yours; I add the year." : "Gladly.";
  return [
    turn(
      aside,
      calls("edit", { path: "test.sh", old: "check 1900 common\n", new: "check 1900 common\ncheck 2100 common\n" }),
    ),
    turn("And a last time:", calls("shell", { command: "sh test.sh" })),
    { ...turn(`Done.\n\n${summary}\n- \`test.sh\` asks about **2100**, too`), expectResult: "ok    2100" },
  ];
}

function calls(tool: string, given: Record<string, unknown>): RehearsedPart {
  return { call: tool, arguments: given };
}

/** A turn that begins with words, and then some calls. */
function turnAt(pace: Pace): (words: string, ...parts: readonly RehearsedPart[]) => RehearsedTurn {
  if (pace === "at-once") return (words, ...parts) => ({ reply: [{ say: words }, ...parts] });
  return (words, ...parts) => {
    const pieces = Math.ceil(words.length / 5);
    return { reply: [{ wait: 250 }, { say: words, pieces, everyMs: 35 }, { wait: 350 }, ...parts] };
  };
}
