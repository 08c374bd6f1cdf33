import type { Completed } from "./table.ts";

export function fish(table: readonly Completed[]): string {
  const lines = table.flatMap(({ name, summary, flags, choices, takesSessions }) => {
    const within = `complete -c corral -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c corral -n __fish_use_subcommand -a ${name} -d ${quotedForFish(summary)}`,
      ...(choices.length === 0 ? [] : [`${within} -a ${quotedForFish(choices.join(" "))}`]),
      ...(takesSessions ? [`${within} -a '@last (corral completion sessions 2>/dev/null)'`] : []),
      ...flags.map(
        ({ name: flag, value, description }) =>
          `${within} -l ${flag}${value === undefined ? "" : " -x"} -d ${quotedForFish(description)}`,
      ),
    ];
  });
  const names = quotedForFish(table.map(({ name }) => name).join(" "));
  return `# fish completion of corral
complete -c corral -f
${lines.join("\n")}
complete -c corral -n __fish_use_subcommand -a help -d 'Explain a command'
complete -c corral -n __fish_use_subcommand -l help -d 'list the commands'
complete -c corral -n __fish_use_subcommand -l version -d 'print the version'
complete -c corral -n '__fish_seen_subcommand_from help' -a ${names}
`;
}

/** In fish a backslash escapes a quote inside quotes. */
function quotedForFish(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
