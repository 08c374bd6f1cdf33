import { type Client, createClient } from "@corral/client";
import { createSignal, Match, onCleanup, Show, Switch } from "solid-js";
import { LoginPage } from "./login/login-page.tsx";
import { codeIn, linkTo, placeOf } from "./place.ts";
import { SessionList } from "./sessions/session-list.tsx";
import { SessionPage } from "./sessions/session-page.tsx";

/** Whether this browser is let in. Nobody knows before the first answer, so it is taken for let in until then. */
type Standing =
  | { readonly kind: "entering" }
  | { readonly kind: "inside" }
  | { readonly kind: "outside"; readonly why?: string };

export function App() {
  const [standing, setStanding] = createSignal<Standing>({ kind: "inside" });
  const [place, setPlace] = createSignal(placeOf(location.hash));
  const client = clientOfPage(() => setStanding((now) => (now.kind === "inside" ? { kind: "outside" } : now)));

  const arrive = () => {
    const code = takeCode();
    setPlace(placeOf(location.hash));
    if (code !== undefined) void enter(code);
  };
  const enter = async (code: string) => {
    setStanding({ kind: "entering" });
    try {
      await client.login.enter({ code });
      setStanding({ kind: "inside" });
    } catch (error) {
      // What to do is on the page anyway.
      setStanding({ kind: "outside", why: error instanceof Error ? `${error.message}.` : String(error) });
    }
  };
  const leave = async () => {
    await client.login.leave().catch(() => undefined);
    setStanding({ kind: "outside", why: "You are logged out." });
  };
  // A link opened where the page already is changes the fragment alone.
  addEventListener("hashchange", arrive);
  onCleanup(() => removeEventListener("hashchange", arrive));
  arrive();

  return (
    <Switch>
      <Match when={standing().kind === "inside"}>
        <header class="bar">
          <a class="brand" href={linkTo({ kind: "sessions" })}>
            Corral
          </a>
          <button type="button" class="plain" onClick={() => void leave()}>
            Log out
          </button>
        </header>
        <Show when={sessionAt(place())} keyed fallback={<SessionList client={client} />}>
          {(id) => <SessionPage client={client} id={id} />}
        </Show>
      </Match>
      <Match when={standing()}>{(now) => <LoginPage standing={now()} />}</Match>
    </Switch>
  );
}

/** Asks the daemon that the page came from; the cookie goes along. Hears of it when that lets nobody in any more. */
function clientOfPage(onRefused: () => void): Client {
  return createClient({
    url: location.origin,
    async fetch(url, request) {
      const answer = await fetch(url, request);
      if (answer.status === 401) onRefused();
      return answer;
    },
  });
}

/** Takes the code out of the address, so that it stays neither there nor in the history. */
function takeCode(): string | undefined {
  const code = codeIn(location.hash);
  if (code !== undefined) history.replaceState(null, "", location.pathname);
  return code;
}

function sessionAt(place: ReturnType<typeof placeOf>) {
  return place.kind === "session" ? place.id : undefined;
}
