/** Cuts a stream into messages, each of which follows its length in four bytes. */
export function readFrames(
  maxBytes: () => number,
  onFrame: (frame: Buffer) => void,
  onNonsense: () => void,
): (chunk: Buffer) => void {
  const chunks: Buffer[] = [];
  let held = 0;
  let length: number | undefined;

  function take(bytes: number): Buffer {
    const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks.splice(0));
    const taken = all.subarray(0, bytes);
    chunks.length = 0;
    held -= bytes;
    if (held > 0) chunks.push(all.subarray(bytes));
    return taken;
  }

  return (chunk) => {
    chunks.push(chunk);
    held += chunk.length;
    while (held >= (length ?? 4)) {
      if (length !== undefined) {
        const frame = take(length);
        length = undefined;
        onFrame(frame);
      } else {
        length = take(4).readUInt32BE();
        if (length > maxBytes()) return onNonsense();
      }
    }
  };
}

export function frame(parts: readonly Uint8Array[]): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(parts.reduce((sum, part) => sum + part.length, 0));
  return Buffer.concat([head, ...parts]);
}
