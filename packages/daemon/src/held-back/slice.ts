import { defectsOf, defineSlice } from "../assembly/index.ts";
import { type HeldBackQuestions, openHeldBack } from "./held-back.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly heldBack: HeldBackQuestions;
  }
}

export const heldBack = defineSlice({
  name: "heldBack",
  needs: ["machine", "home", "log"],
  open: ({ machine, home, log }) => openHeldBack({ log, home: home.folder, onDefect: defectsOf(machine, "held-back") }),
  mend: (own) => own.begin(),
  close: (own) => own.close(),
});
