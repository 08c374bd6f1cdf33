import type { Client, Followed } from "@corral/client";
import type { ProjectView, SessionId, SessionView } from "@corral/protocol";
import { usualAgent } from "@corral/protocol/words";
import { createSignal, For, Show } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { explain } from "../connection/explain.ts";
import { createFollowing } from "../connection/following.ts";
import { Trouble } from "../connection/trouble.tsx";
import { linkTo } from "../place.ts";
import { ProjectList } from "../projects/project-list.tsx";
import { shortId } from "./short-id.ts";
import { StateBadge } from "./state-badge.tsx";
import { UnsafeBadge } from "./unsafe-badge.tsx";

export function SessionList(props: { readonly client: Client }) {
  const [views, setViews] = createStore<{ sessions: SessionView[]; projects: ProjectView[]; asking: SessionId[] }>({
    sessions: [],
    projects: [],
    asking: [],
  });
  const [isLoaded, setLoaded] = createSignal(false);
  const [failure, setFailure] = createSignal<string>();

  const refresh = coalesced(async () => {
    try {
      const [sessions, projects, questions] = await Promise.all([
        props.client.sessions.list(),
        props.client.projects.list(),
        props.client.questions.list(),
      ]);
      const asking = questions.map(({ session }) => session);
      setViews(reconcile({ sessions: sessions.toReversed(), projects: [...projects], asking }));
      setLoaded(true);
      setFailure(undefined);
    } catch (error) {
      setFailure(explain(error));
    }
  });
  const nameOf = (session: SessionView) => views.projects.find(({ id }) => id === session.projectId)?.name;

  /** What was held back is asked about in whatever state, and no state tells of it. */
  const asksBesides = ({ id, state }: SessionView) => state.state !== "waiting" && views.asking.includes(id);

  document.title = "Corral";
  refresh();

  return (
    <main>
      <h1>Sessions</h1>
      <Trouble what={failure()} />
      <Show when={isLoaded()} fallback={<p class="quiet">Loading…</p>}>
        <Watch client={props.client} after={views.sessions[0]?.seq ?? 0} onChange={refresh} />
        <Show when={views.sessions.length > 0} fallback={<NoSessions />}>
          <ul class="sessions">
            <For each={views.sessions}>
              {(session) => (
                <li>
                  <a href={linkTo({ kind: "session", id: session.id })}>
                    <span class="name">{nameOf(session) ?? "…"}</span>
                    <StateBadge state={session.state} />
                    <Show when={asksBesides(session)}>
                      <span class="badge waiting">needs you</span>
                    </Show>
                    <UnsafeBadge kind={session.environment.kind} />
                    <Show when={session.title !== ""}>
                      <span class="title">{session.title}</span>
                    </Show>
                    <span class="facts">
                      <Show when={session.agent !== usualAgent}>
                        <span>{session.agent}</span>
                      </Show>
                      <span>{session.model}</span>
                      <code title={session.id}>{shortId(session.id)}</code>
                    </span>
                  </a>
                </li>
              )}
            </For>
          </ul>
        </Show>
        <Show when={views.projects.length > 0}>
          <ProjectList projects={views.projects} sessions={views.sessions} />
        </Show>
      </Show>
    </main>
  );
}

/** Events are taken as hints that the list changed; what it is now is asked. */
function Watch(props: { readonly client: Client; readonly after: number; onChange(): void }) {
  let cursor = props.after;
  const trouble = createFollowing(props.client, {
    cursor: () => cursor,
    onNews(news) {
      const seqs = news.flatMap((each) =>
        each.kind === "delta" ? [] : each.kind === "gap" ? each.to : each.event.seq,
      );
      cursor = seqs.at(-1) ?? cursor;
      if (news.some(mayChangeList)) props.onChange();
    },
  });
  return <Trouble what={trouble()} />;
}

function mayChangeList(news: Followed): boolean {
  if (news.kind !== "event") return news.kind === "gap";
  return /^(session|activity|project|input|queue|place|question)\.|^(turn\.attempt-failed|stream\.erased)$/.test(
    news.event.type,
  );
}

function NoSessions() {
  return (
    <p class="quiet">
      None yet. In a git repository, <code>corral run "what should be done"</code> begins one.
    </p>
  );
}

/** One at a time; asked for again in the meantime, it is done once more. */
function coalesced(task: () => Promise<void>): () => void {
  let running = false;
  let again = false;
  const run = async () => {
    running = true;
    do {
      again = false;
      await task();
    } while (again);
    running = false;
  };
  return () => {
    if (running) again = true;
    else void run();
  };
}
