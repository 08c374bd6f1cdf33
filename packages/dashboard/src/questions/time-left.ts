/** How long there is to answer, in one unit. */
export function timeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 120) return `${seconds} s left`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min left` : `${Math.round(seconds / 3_600)} h left`;
}
