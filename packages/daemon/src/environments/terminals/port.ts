/** A terminal in an environment: a pty with a shell on it, that many may watch and type into. */
export interface Terminal {
  /** Whether it goes on when this process ends. */
  readonly lasting: boolean;
  readonly size: TerminalSize;
  /** Bytes typed. Lost when it has ended. */
  write(bytes: Uint8Array): void;
  /** For everybody who watches: there is one size. */
  resize(size: TerminalSize): void;
  /**
   * Tells the screen and what scrolled off it so far, then everything that comes, without gap or repeat, and only what a
   * viewer's own terminal may obey (`EscapeFilter`). Returns what ends that.
   */
  watch(viewer: Viewer): () => void;
  /** The text on it so far, with what scrolled off, without colours. */
  scrollback(): Promise<string>;
  /** Resolves when its program has ended, however that came. Rejects with `environment.gone` when the environment went first or was let go. */
  readonly ended: Promise<TerminalEnd>;
  /** Ends it and all that runs on it. Can be repeated. */
  close(): Promise<void>;
}

export type Viewer = (output: Buffer) => void;

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface TerminalEnd {
  /** 128 + N for signal N. */
  readonly exitCode: number;
  readonly scrollback: string;
}
