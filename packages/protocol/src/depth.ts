/** Levels of objects and lists inside each other in what others send as JSON. Nobody means more, and walks over it are recursive. */
export const deepestJson = 100;

/** Whether objects and lists lie more than so many levels inside each other. Looks level by level, so that no depth is too much for it. */
export function isTooDeep(value: unknown, levels: number = deepestJson): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((each) => Object.values(each).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
