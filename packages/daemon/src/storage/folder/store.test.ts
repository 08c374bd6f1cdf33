import { spawnSync } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { describeStore, pieces } from "../conformance.ts";
import { openFolderStore } from "./store.ts";

describeStore("folder", {
  async open() {
    const folder = await mkdtemp(join(tmpdir(), "corral-store-"));
    return {
      store: await openFolderStore(folder),
      async damage(digest, change) {
        const path = join(folder, "objects", digest.slice(0, 2), digest);
        await writeFile(path, change(await readFile(path)));
      },
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  },
});

describe("on the disk", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "corral-store-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test("only its owner may look into a store, even where the folder was open to all", async () => {
    await chmod(folder, 0o777);
    const store = await openFolderStore(folder);
    const { digest } = await store.put(pieces(Buffer.from("secret")));
    const modes: Record<string, string> = {};
    for (const name of [
      ".",
      "incoming",
      "objects",
      `objects/${digest.slice(0, 2)}`,
      `objects/${digest.slice(0, 2)}/${digest}`,
    ]) {
      modes[name.replaceAll(digest, "DIGEST")] = ((await stat(join(folder, name))).mode & 0o777).toString(8);
    }
    expect(Object.values(modes)).toEqual(["700", "700", "700", "700", "600"]);
  });

  test("a put that failed leaves no file", async () => {
    const store = await openFolderStore(folder);
    await expect(store.put(pieces(Buffer.alloc(9)), { atMost: 8 })).rejects.toMatchObject({
      code: "storage.too-large",
    });
    expect(await files()).toEqual([]);
  });

  test.each([
    ["in the middle of its bytes", "storage.middle:1", []],
    ["between writing and naming", "storage.written:1", []],
    ["between naming and answering", "storage.named:1", ["whole"]],
  ])("a process killed %s leaves no half object, and the next one tidies up", async (_, wish, kept) => {
    const modules = {
      store: new URL("store.ts", import.meta.url).href,
      fault: new URL("../../faults/fault.ts", import.meta.url).href,
    };
    const putting = `
      import { openFolderStore } from ${JSON.stringify(modules.store)};
      import { fault } from ${JSON.stringify(modules.fault)};
      async function* source() {
        for (let index = 0; index < 4; index++) yield Buffer.alloc(300_000, index);
        fault("storage.middle");
      }
      await (await openFolderStore(${JSON.stringify(folder)})).put(source());
    `;
    const { signal } = spawnSync(process.execPath, ["--input-type=module", "-e", putting], {
      env: { ...process.env, CORRAL_FAULT: wish },
    });
    expect(signal).toBe("SIGKILL");
    const left = await files();
    const store = await openFolderStore(folder);
    const { objects } = await store.list();
    expect(objects.map((object) => object.bytes)).toEqual(kept.map(() => 1_200_000));
    expect(left).toHaveLength(1);
    expect(await files()).toEqual(objects.map(({ digest }) => `objects/${digest.slice(0, 2)}/${digest}`));
    for (const { digest } of objects) for await (const _piece of store.get(digest));
  });

  test("a folder that cannot be one is told", async () => {
    await writeFile(join(folder, "file"), "");
    await expect(openFolderStore(join(folder, "file"))).rejects.toMatchObject({
      code: "storage.failed",
      message: "Cannot open the store: EEXIST",
    });
  });

  const files = async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  };
});
