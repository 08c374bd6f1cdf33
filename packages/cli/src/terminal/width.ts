/** How many cells of a terminal a text takes: most characters one, those of East Asia and pictures two, marks on others none. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += cells(character);
  return width;
}

/** As much of a text as fits, with a sign where something is missing. */
export function cutTo(text: string, cellsLeft: number): string {
  if (widthOf(text) <= cellsLeft) return text;
  let kept = "";
  let width = 1;
  for (const character of text) {
    width += cells(character);
    if (width > cellsLeft) break;
    kept += character;
  }
  return `${kept}…`;
}

function cells(character: string): number {
  if (none.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

const plain = /^[\x20-\x7e]*$/;
const none = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const wide =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})$/u;
