/**
 * Variables that change what a command prints or how fast it is, and nothing else. Any other could be one that a program takes for a
 * command, a library or a place of settings: PATH, LD_PRELOAD, GIT_PAGER, NODE_OPTIONS, and whatever comes next.
 */
const harmless = new Set(
  [
    "CI NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES TERM COLORTERM TZ LANG LANGUAGE",
    "LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME",
    "NODE_ENV DEBUG VERBOSE RUST_BACKTRACE RUST_LOG CARGO_TERM_COLOR PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONHASHSEED",
    "GOMAXPROCS GOTRACEBACK MAKE_TERMOUT JOBS DEBIAN_FRONTEND GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS",
  ].flatMap((line) => line.split(" ")),
);

/** Small letters are a script's own, but for these. */
const obeyedSmall = /^(?:npm_|pnpm_|yarn_|(?:https?|ftp|all|no)_proxy$|ld_)/;

/** Whether a variable may be set for a command, or for those that follow. */
export function isHarmless(name: string, how: "for a command" | "in the shell"): boolean {
  if (harmless.has(name)) return true;
  return how === "in the shell" && /^[a-z_][a-z0-9_]*$/.test(name) && !obeyedSmall.test(name);
}
