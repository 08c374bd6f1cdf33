import { type Completed, quoted } from "./table.ts";

export function zsh(table: readonly Completed[]): string {
  return `#compdef corral
_corral() {
  local -a commands
  commands=(
${table.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join("\n")}
    'help:Explain a command'
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    _arguments '--help[list the commands]' '--version[print the version]'
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${table.map(branch).join("\n")}
    help) _describe command commands ;;
  esac
}
if [[ $funcstack[1] == _corral ]]; then _corral "$@"; else compdef _corral corral; fi
`;
}

function branch({ name, flags, choices, takesSessions }: Completed): string {
  const specs = flags.map(({ name: flag, value, description }) =>
    quoted(`--${flag}[${escaped(description)}]${value === undefined ? "" : `:${escaped(value)}: `}`),
  );
  const asked = ` ${choices.join(" ")} @last \${(f)"$(corral completion sessions 2>/dev/null | cut -f 1)"}`;
  const words = takesSessions
    ? quoted(`*:session:compadd --${asked}`)
    : choices.length === 0
      ? "'*: :'"
      : quoted(`1:word:(${choices.join(" ")})`);
  return `    ${name}) _arguments ${[...specs, words].join(" ")} ;;`;
}

/** Brackets and colons mean something to _arguments. */
function escaped(text: string): string {
  return text.replace(/[[\]:\\]/g, "\\$&");
}
