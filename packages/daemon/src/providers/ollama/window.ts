/**
 * How many tokens Ollama is to make room for. Its own choice is small, whatever the model can read, and what is longer it cuts
 * off at the beginning and says nothing. All of what the model can read may be more than the machine has memory for; and another
 * size has the model loaded anew. So the room is what is needed and a half, doubled as a conversation grows.
 */
export function windowFor(bytes: number, most: number): number {
  const needed = bytes / bytesPerToken + roomForReply;
  let window = smallest;
  while (window < needed) window *= 2;
  return Math.min(window, most);
}

/** Even of the wordiest text so many bytes are no fewer tokens: there is no use in asking. */
export function isTooLong(bytes: number, most: number): boolean {
  return bytes / mostBytesPerToken > most;
}

const smallest = 8192;
const roomForReply = 4096;
/** Few, for code and figures have many tokens. */
const bytesPerToken = 2.5;
const mostBytesPerToken = 8;
