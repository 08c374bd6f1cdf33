import type { Completed } from "./table.ts";

/** Works with the bash of macOS too, which is old. */
export function bash(table: readonly Completed[]): string {
  const wordsOf = ({ flags, choices }: Completed) => [...choices, ...flags.map(({ name }) => `--${name}`)].join(" ");
  const valued = table.flatMap(({ name, flags }) =>
    flags.filter(({ value }) => value !== undefined).map((flag) => `"${name} --${flag.name}"`),
  );
  const asked = table.filter(({ takesSessions }) => takesSessions).map(({ name }) => `"${name} "*`);
  return `# bash completion of corral
_corral() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${table.map(({ name }) => name).join(" ")} help --help --version'
  else
    # The value of a flag is nobody's to guess.
    case "\${COMP_WORDS[1]} $previous" in
      ${valued.join(" | ")}) return ;;
    esac
    case "\${COMP_WORDS[1]}" in
${table.map((command) => `      ${command.name}) words='${wordsOf(command)}' ;;`).join("\n")}
      help) words='${table.map(({ name }) => name).join(" ")}' ;;
    esac
    case "\${COMP_WORDS[1]} $current" in
      *' -'*) ;;
      ${asked.join(" | ")}) words="$words @last $(corral completion sessions 2>/dev/null | cut -f 1)" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _corral corral
`;
}
