import type { Finding, RulesProblem } from "@corral/protocol";

/** What the doctor says of the files of rules. */
export function rulesFinding([problem]: readonly RulesProblem[]): Finding {
  const about = { name: "rules", why: "they say what agents may do without asking" };
  if (problem === undefined) return { ...about, state: "ok", found: "good" };
  const { file, line, column, message } = problem;
  return {
    ...about,
    state: "warning",
    found: `${file}:${line}:${column}: ${message}`,
    fix: "mend the file; until then everything is asked",
  };
}
