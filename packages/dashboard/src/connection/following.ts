import type { Client, Followed } from "@corral/client";
import type { SessionId } from "@corral/protocol";
import { type Accessor, createEffect, createSignal, onCleanup } from "solid-js";
import { explain, unreachable } from "./explain.ts";

interface FollowWish {
  readonly session?: SessionId;
  /** The seq of the last event taken in. */
  readonly cursor: () => number;
  /** Takes in what came since the last frame, in order. */
  readonly onNews: (news: readonly Followed[]) => void;
}

/**
 * Follows while the page is seen: browsers allow six connections to a host, and pages in the background must not use
 * them up. Returns what is wrong with the connection, if anything is.
 */
export function createFollowing(client: Client, wish: FollowWish): Accessor<string | undefined> {
  const [trouble, setTrouble] = createSignal<string>();
  const isSeen = createVisibility();
  const batch = new Batch(wish.onNews);

  createEffect(() => {
    if (!isSeen()) return;
    const leaving = new AbortController();
    onCleanup(() => {
      leaving.abort();
      batch.hand();
    });
    void follow(leaving.signal);
  });

  async function follow(signal: AbortSignal): Promise<void> {
    const { session, cursor } = wish;
    try {
      const only = session === undefined ? {} : { session };
      for await (const news of client.follow({ ...only, after: cursor(), signal, onBreak: look })) batch.add(news);
    } catch (error) {
      if (!signal.aborted) setTrouble(explain(error));
    }
  }

  /** A stream says nothing while nothing happens, so whether the daemon is back is asked. */
  async function look(): Promise<void> {
    try {
      await client.daemon.health();
      setTrouble(undefined);
    } catch {
      setTrouble(unreachable);
    }
  }

  return trouble;
}

/** What comes faster than the screen is handed on once a frame. */
class Batch {
  readonly #onNews: (news: readonly Followed[]) => void;
  #news: Followed[] = [];

  constructor(onNews: (news: readonly Followed[]) => void) {
    this.#onNews = onNews;
  }

  add(news: Followed): void {
    if (this.#news.push(news) === 1) requestAnimationFrame(() => this.hand());
  }

  hand(): void {
    const news = this.#news;
    this.#news = [];
    if (news.length > 0) this.#onNews(news);
  }
}

function createVisibility(): Accessor<boolean> {
  const [isSeen, setSeen] = createSignal(!document.hidden);
  const look = () => setSeen(!document.hidden);
  document.addEventListener("visibilitychange", look);
  onCleanup(() => document.removeEventListener("visibilitychange", look));
  return isSeen;
}
