/** Sequences that only colour a terminal's text. */
const colours = /\u001b\[[\d;:]*m/g;
/** Control characters but line feed and tab, and marks that reorder text. */
const unseen = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu;

/** A text of an agent or a command, with nothing in it that hides or that makes it read as something else. */
export function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(colours, "").replace(unseen, picture);
}

function picture(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : `\\u${code.toString(16).padStart(4, "0")}`;
}
