import type { ClosedTerminal, TerminalId, TerminalSize, TerminalView } from "@corral/protocol";
import type { By } from "../log/index.ts";
import type { HeldTerminals, TerminalViewer, WatchedTerminal } from "./held.ts";

/** Terminals in the environments of people's shells, or of sessions, by the id of either. All but `list` throw `not-found`. */
export interface Terminals<Place extends TerminalView["of"]> {
  /** Durable when it resolves. With the id of one that was opened before, it is that one. */
  open(place: Place, size: TerminalSize, by: By, id?: TerminalId): Promise<TerminalView>;
  /** All that there were, the newest last. */
  list(place: Place): Promise<readonly TerminalView[]>;
  look(place: Place, id: TerminalId): Promise<TerminalView>;
  /** Tells the screen so far and all that comes, until it is left; or how it has ended. */
  watch(
    place: Place,
    id: TerminalId,
    viewer: TerminalViewer,
    size?: TerminalSize,
  ): Promise<WatchedTerminal | ClosedTerminal>;
  /** The text that is or was on it; undefined when it is no longer kept. */
  read(place: Place, id: TerminalId): Promise<string | undefined>;
  /** Ends it with all that runs on it. Can be repeated. */
  close(place: Place, id: TerminalId): Promise<TerminalView>;
}

export function terminalsOf<Place extends TerminalView["of"]>(
  find: (place: Place) => Promise<HeldTerminals>,
  open: Terminals<Place>["open"],
): Terminals<Place> {
  return {
    open,
    list: async (place) => (await find(place)).list(),
    look: async (place, id) => (await find(place)).look(id),
    watch: async (place, id, viewer, size) => (await find(place)).watch(id, viewer, size),
    read: async (place, id) => (await find(place)).scrollback(id),
    close: async (place, id) => (await find(place)).close(id),
  };
}
