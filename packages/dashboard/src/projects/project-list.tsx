import type { ProjectView, SessionView } from "@corral/protocol";
import { For, Show } from "solid-js";

/** All projects that Corral knows, also those without a session. */
export function ProjectList(props: {
  readonly projects: readonly ProjectView[];
  readonly sessions: readonly SessionView[];
}) {
  const sessionsOf = ({ id }: ProjectView) => props.sessions.filter(({ projectId }) => projectId === id).length;
  return (
    <section aria-labelledby="projects">
      <h2 id="projects">Projects</h2>
      <ul class="projects">
        <For each={props.projects}>
          {(project) => (
            <li>
              <span class="name">{project.name}</span>
              <span class="facts">
                <span>{countOf(sessionsOf(project))}</span>
                <Show when={!project.present}>
                  <span>its folder is missing</span>
                </Show>
                <code>{project.path}</code>
              </span>
            </li>
          )}
        </For>
      </ul>
    </section>
  );
}

function countOf(sessions: number): string {
  if (sessions === 0) return "no session yet";
  return sessions === 1 ? "1 session" : `${sessions} sessions`;
}
