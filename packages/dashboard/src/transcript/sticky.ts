import { type Accessor, createSignal, onCleanup } from "solid-js";

export interface Sticky {
  readonly isAtBottom: Accessor<boolean>;
  /** Called after something was added: follows it, if the reader was at the bottom. */
  settle(): void;
  jump(): void;
}

/** Stays at the bottom of what grows while the reader is there, and lets a reader who went up read in peace. */
export function createSticky(element: () => HTMLElement | undefined, scroller: EventTarget): Sticky {
  const [isAtBottom, setAtBottom] = createSignal(true);
  const look = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = element() ?? {};
    setAtBottom(scrollTop + clientHeight >= scrollHeight - slack);
  };
  const jump = () => {
    element()?.scrollTo({ top: element()?.scrollHeight ?? 0 });
    look();
  };
  scroller.addEventListener("scroll", look, { passive: true });
  onCleanup(() => scroller.removeEventListener("scroll", look));
  return { isAtBottom, jump, settle: () => (isAtBottom() ? jump() : undefined) };
}

/** Somebody this near to the bottom means to be there. */
const slack = 24;
