/** A line of the log as a person reads it in a terminal. */
export function readable(line: string): string {
  const { time, level, component, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const clock = typeof time === "string" ? time.slice(11, 19) : "";
  const details = Object.entries(rest)
    .filter(([name]) => name !== "pid")
    .map(([name, value]) => `${name}=${word(value)}`);
  const head = [clock, String(level).padEnd(5), `${word(component)}:`, word(msg), ...details].join(" ");
  const { stack } = (err ?? {}) as { stack?: unknown };
  return shown(`${head}\n${typeof stack === "string" ? `${stack.replace(/^/gm, "  ")}\n` : ""}`);
}

function word(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

/** What a program said may end up in the log; a terminal must not obey it. */
function shown(text: string): string {
  return text.replace(
    /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu,
    (unsafe) => `\\u${unsafe.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
