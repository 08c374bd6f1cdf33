export type { CallEnd, CallEntry, Entry, InputEntry, Note, NoteEntry, PartEntry, QuestionEntry } from "./entry.ts";
export {
  type Change,
  dropDone,
  emptyTranscript,
  takeDelta,
  takeEvent,
  takeGap,
  takeView,
  type Transcript,
  type TurnFacts,
  usedIn,
} from "./transcript.ts";
export { callArtifacts, callNotes, callWords, exitCodeOf, noteWords, requestText, sentence } from "./words.ts";
