import type { ProjectId, SessionId } from "@corral/protocol";

/** A session that waits for a place. */
export interface Waiter {
  readonly session: SessionId;
  readonly project: ProjectId;
}

/** What a project has had so far. */
export interface Share {
  /** Its sessions at work. */
  readonly atWork: number;
  /** When it was given a place last, counted in places given; 0: never. */
  readonly lastGiven: number;
}

/**
 * Who is next of those in line (who came first is first): of the project with the fewest at work, of several the one that
 * was given a place longest ago, and of that project who came first. So a project with many waiting never holds up another's one.
 */
export function nextInLine<W extends Waiter>(
  line: Iterable<W>,
  shareOf: (project: ProjectId) => Share,
  mayBe: (waiter: W) => boolean = () => true,
): W | undefined {
  let next: W | undefined;
  for (const waiter of line) {
    if (next !== undefined && (waiter.project === next.project || !isBefore(waiter, next, shareOf))) continue;
    if (mayBe(waiter)) next = waiter;
  }
  return next;
}

/** All of the line in the order in which they would be given places, were none given back meanwhile. */
export function orderOfLine<W extends Waiter>(line: Iterable<W>, shareOf: (project: ProjectId) => Share): readonly W[] {
  const left = new Set(line);
  const shares = new Map<ProjectId, Share>();
  const shareThen = (project: ProjectId) => shares.get(project) ?? shareOf(project);
  const order: W[] = [];
  for (let given = Number.MAX_SAFE_INTEGER - left.size; left.size > 0; given++) {
    const next = nextInLine(left, shareThen);
    if (next === undefined) break;
    left.delete(next);
    order.push(next);
    shares.set(next.project, { atWork: shareThen(next.project).atWork + 1, lastGiven: given });
  }
  return order;
}

function isBefore(a: Waiter, b: Waiter, shareOf: (project: ProjectId) => Share): boolean {
  const [mine, theirs] = [shareOf(a.project), shareOf(b.project)];
  return mine.atWork === theirs.atWork ? mine.lastGiven < theirs.lastGiven : mine.atWork < theirs.atWork;
}
