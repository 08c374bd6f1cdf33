import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { CorralError, type CredentialKind, providerName, setCredential, type SetCredential } from "@corral/protocol";
import { z } from "zod";
import { besideOf, removeHalfWritten } from "../half-written/index.ts";

/**
 * The file with the keys.
 *
 * 1. It is the owner's alone (0600); one that others may read is refused, for then they may have read it.
 * 2. It is replaced whole, so that a crash leaves the old or the new one.
 * 3. Changes follow each other; a read sees whole ones.
 */
export class CredentialFile {
  readonly #file: string;
  #changing: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.#file = file;
    removeHalfWritten(file);
  }

  async get(provider: string): Promise<SetCredential | undefined> {
    const { credentials } = await this.#read();
    return Object.hasOwn(credentials, provider) ? credentials[provider] : undefined;
  }

  /** Which there are, by their kind and, where a program prints them, by its name. */
  async list(): Promise<ReadonlyMap<string, { readonly kind: CredentialKind; readonly program?: string }>> {
    const { credentials } = await this.#read();
    return new Map(
      Object.entries(credentials).map(([name, kept]) => [
        name,
        "key" in kept ? { kind: "key" } : { kind: "command", program: kept.command[0] ?? "" },
      ]),
    );
  }

  /** Those that are kept themselves, by provider. */
  async keys(): Promise<ReadonlyMap<string, string>> {
    const { credentials } = await this.#read();
    return new Map(Object.entries(credentials).flatMap(([name, kept]) => ("key" in kept ? [[name, kept.key]] : [])));
  }

  put(provider: string, credential: SetCredential): Promise<void> {
    return this.#change((credentials) => ({ ...credentials, [provider]: credential }));
  }

  /** Whether there was one. */
  async remove(provider: string): Promise<boolean> {
    let was = false;
    await this.#change(({ [provider]: known, ...others }) => {
      was = known !== undefined;
      return others;
    });
    return was;
  }

  #change(to: (credentials: Content["credentials"]) => Content["credentials"]): Promise<void> {
    const change = this.#changing.then(async () => {
      const { credentials } = await this.#read();
      await this.#write({ version: 1, credentials: to(credentials) });
    });
    this.#changing = change.catch(() => undefined);
    return change;
  }

  async #read(): Promise<Content> {
    const text = await this.#text();
    if (text === undefined) return { version: 1, credentials: {} };
    const parsed = content.safeParse(fromJson(text));
    if (parsed.success) return parsed.data;
    throw new CorralError("credentials.unusable", `The file ${this.#file} cannot be understood.`, {
      hint: "Remove it, and log in again with `corral auth login PROVIDER`",
    });
  }

  async #text(): Promise<string | undefined> {
    try {
      await using handle = await open(this.#file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      const stat = await handle.stat();
      if (!stat.isFile() || stat.uid !== process.getuid?.() || (stat.mode & 0o077) !== 0)
        throw this.#exposed(stat.mode);
      return await handle.readFile("utf8");
    } catch (error) {
      if (error instanceof CorralError) throw error;
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return undefined;
      throw new CorralError("credentials.unusable", `The file ${this.#file} cannot be read (${String(code)}).`, {
        hint: "Make it a plain file of yours, or remove it",
      });
    }
  }

  #exposed(mode: number): CorralError {
    const shown = (mode & 0o777).toString(8).padStart(4, "0");
    return new CorralError("credentials.exposed", `Others may have read ${this.#file} (mode ${shown}).`, {
      hint: `\`chmod 600 '${this.#file}'\` takes it back; keys that others may have seen should be made anew`,
    });
  }

  async #write(value: Content): Promise<void> {
    const fresh = besideOf(this.#file);
    await rm(fresh, { force: true });
    try {
      await using handle = await open(fresh, "wx", 0o600);
      await handle.writeFile(`${JSON.stringify(value, undefined, 2)}\n`);
      await handle.sync();
    } catch (error) {
      await rm(fresh, { force: true });
      throw error;
    }
    await rename(fresh, this.#file);
    await using folder = await open(dirname(this.#file), "r");
    await folder.sync();
  }
}

const content = z.object({ version: z.literal(1), credentials: z.record(providerName, setCredential) });
type Content = z.infer<typeof content>;

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
