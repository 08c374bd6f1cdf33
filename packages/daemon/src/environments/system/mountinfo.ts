/** Of paths in the kernel's lists of mounts: spaces and the like are written there as three octal digits. */
export function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 8)));
}
