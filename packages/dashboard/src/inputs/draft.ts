import { type InputId, newId } from "@corral/protocol/new-id";

/** An input before it is admitted. */
export interface Draft {
  readonly id: InputId;
  readonly text: string;
}

/**
 * The same text sent again after a failure keeps its id: should it have been admitted after all, the daemon knows it.
 */
export function draftOf(text: string, unsent: Draft | undefined): Draft {
  return unsent?.text === text ? unsent : { id: newId("input"), text };
}
