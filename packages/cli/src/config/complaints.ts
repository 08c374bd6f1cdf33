import type { ConfigView, RulesView } from "@corral/protocol";
import { shown } from "../terminal/output.ts";

/** What is wrong with the settings, where, and what stands in for it; empty when all is well. */
export function configComplaints({ files, refusedVariables }: ConfigView): string {
  const complaints = [
    ...files.flatMap(({ file, state, problem }) => {
      if (problem !== undefined)
        return [`${file}:${problem.line}:${problem.column}: ${problem.message} (what was good before is used)`];
      return state === "untrusted" ? [`${file} is not trusted and does not count: \`corral trust\` shows it`] : [];
    }),
    ...refusedVariables.map(({ name, message }) => `${name} is not taken: ${message}`),
  ];
  return shown(complaints.map((each) => `warning: ${each}\n`).join(""));
}

/** What is wrong with the rules, and where; empty when all is well. */
export function rulesComplaints({ problems }: Pick<RulesView, "problems">): string {
  const complaints = problems.map(
    ({ file, line, column, message }) => `${file}:${line}:${column}: ${message} (everything is asked)`,
  );
  return shown(complaints.map((each) => `warning: ${each}\n`).join(""));
}
