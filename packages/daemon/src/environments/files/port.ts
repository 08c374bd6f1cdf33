/**
 * Files as an environment's own processes see them: paths are inside paths, relative ones start in the workspace,
 * and the kernel decides what can be reached. Every operation is bounded in time and size, never blocks on what is no
 * regular file, and goes on side by side with the shells. The same question has the same answer in every kind of environment.
 *
 * Throws `file.missing`, `file.exists`, `file.refused` (the walls or the mode of the file), `file.unsuitable` (a folder where a
 * file is meant, a FIFO, …), `file.changed`, `file.too-large` (or no room is left), `file.failed` (it took too long, or the disk failed), `request.invalid`
 * (a pattern), or `environment.gone`; each says which file and what to do. Names that are no UTF-8 are shown with U+FFFD in
 * place of the other bytes and cannot be asked for; the shell can.
 */
export interface Files {
  /** Follows links; undefined: nothing is there. */
  stat(path: string, options?: Bounds): Promise<FileStat | undefined>;

  /** All of a file, or a range of its bytes. What is longer than the limit is cut there, and says so by `size`. */
  read(path: string, range?: Range & Bounds): Promise<FileRead>;

  /**
   * Replaces the whole file at once, or makes it, with the folders above. Nobody ever sees half of it. Mode and, behind a link, the
   * place of the file stay. `expected`: only if it is still that version, else `file.changed` (null: only if nothing is there, else
   * `file.exists`). The version is looked at right before the file is replaced; who writes between the two is not seen. Once it is on its
   * way a signal does not break it off. When its process was ended, the answer is what the file holds then: `file.failed` if not this.
   */
  write(path: string, content: Uint8Array | string, options?: WriteOptions): Promise<FileVersion>;

  /** Reads, changes and writes, and begins again when somebody else was faster. `change` gives undefined to leave it. */
  edit(path: string, change: (text: string) => string | undefined, options?: Bounds): Promise<FileVersion | undefined>;

  /**
   * Takes a regular file away; a link is none. `expected`: only if it is still that version. When its process was ended, the answer is
   * whether the file is there then.
   */
  remove(path: string, options?: RemoveOptions): Promise<void>;

  /** Gives a regular file another place, with its mode, and makes the folders above. Never over something that is there: `file.exists`. */
  move(path: string, to: string, options?: RemoveOptions): Promise<void>;

  /** What a folder holds, by name. */
  list(path: string, options?: ListOptions): Promise<Listed<FileEntry>>;

  /**
   * Regular files below a folder whose path matches, without what .gitignore files name, by path, name by name. Links are not
   * followed. A pattern with a slash is about the path from that folder on, one without about the name: `*.ts`, `src/**`, `{a,b}/*.[ch]`.
   * What is told can be read as it is.
   */
  glob(pattern: string, options?: ListOptions & { readonly in?: string }): Promise<Listed<string>>;

  /**
   * Lines that match a regular expression (or a fixed text), in the order of path and line, in the files that `glob` finds and that
   * hold no NUL bytes. Where there is no ripgrep, grep searches: what its regular expressions cannot say is `request.invalid`.
   */
  search(search: Search): Promise<Listed<SearchMatch>>;

  /**
   * Tells when one of these files or folders (and what lies in them, with `deep`) has changed, until the signal is aborted.
   * Changes shortly after each other are told as one, by the paths that are there, gone or different now. With `deep`, `.git` and
   * `node_modules` are left out, and beyond 20,000 files nothing is seen.
   */
  watch(paths: readonly string[], options: WatchOptions): void;
}

export interface Bounds {
  readonly signal?: AbortSignal;
  /** After this it is given up. */
  readonly timeoutMs?: number;
}

export interface Range {
  /** First byte, from 0 on. */
  readonly from?: number;
  /** At most so many bytes. */
  readonly bytes?: number;
}

/** Names one state of a file: another one after every change of its content. */
export type FileVersion = string;

export interface FileStat {
  readonly kind: "file" | "folder" | "other";
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  readonly modifiedMs: number;
}

export interface FileRead {
  readonly bytes: Buffer;
  /** Of the whole file. */
  readonly size: number;
  /** Of the whole file; undefined when only a part was read. */
  readonly version: FileVersion | undefined;
}

export interface WriteOptions extends Bounds {
  readonly expected?: FileVersion | null;
}

export interface RemoveOptions extends Bounds {
  readonly expected?: FileVersion;
}

export interface FileEntry {
  readonly name: string;
  /** Links are not followed here. */
  readonly kind: "file" | "folder" | "link" | "other";
  readonly size: number;
}

export interface ListOptions extends Bounds {
  /** At most so many. */
  readonly limit?: number;
}

/** `complete` is false when there were more, or the time was up. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly complete: boolean;
}

export interface Search extends ListOptions {
  readonly pattern: string;
  /** The pattern is a text, not a regular expression. */
  readonly fixed?: boolean;
  readonly ignoreCase?: boolean;
  readonly in?: string;
  /** Only files whose path matches. */
  readonly glob?: string;
}

export interface SearchMatch {
  readonly path: string;
  /** From 1 on. */
  readonly line: number;
  /** Cut at 500 bytes. */
  readonly text: string;
}

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly deep?: boolean;
  readonly onChange: (paths: readonly string[]) => void;
  /** From here on changes are seen. */
  readonly onReady?: () => void;
  /** It cannot go on: the environment is gone. */
  readonly onEnd?: (error: unknown) => void;
}
