import { Show } from "solid-js";

/** What a browser sees that is not let in (yet). */
export function LoginPage(props: { readonly standing: { readonly kind: string; readonly why?: string } }) {
  return (
    <main class="gate">
      <h1>Corral</h1>
      <Show when={props.standing.kind !== "entering"} fallback={<p role="status">Opening…</p>}>
        <Show when={props.standing.why}>{(why) => <p role="alert">{why()}</p>}</Show>
        <p>
          To open the dashboard, run <code>corral dashboard</code> on this machine and follow the link it prints. A link
          works once, within a minute.
        </p>
      </Show>
    </main>
  );
}
