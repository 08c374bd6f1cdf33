import { expect, test } from "vitest";
import type { Bench } from "./fixture.ts";

export function filing({ open }: Bench): void {
  test("files are read and written while a command runs", async () => {
    const { environment, run } = await open();
    const { files } = environment;
    const running = run("until [ -e go ]; do sleep 0.01; done; cat go");
    await files.write("file", "text");
    expect((await files.read("file")).bytes.toString()).toBe("text");
    await files.write("go", "gone on");
    expect((await running).stdout).toBe("gone on");
  });

  test("files go on after a time limit ended everything", async () => {
    const { environment } = await open();
    const { files } = environment;
    await files.write("file", "text");
    for (const id of ["one", "two"]) {
      const limited = environment.shell.run({ id, text: "sleep 1000", timeoutMs: 50 });
      const over = new AbortController();
      void limited.finally(() => over.abort());
      const seen = new Set<string>();
      while (!over.signal.aborted) seen.add((await files.read("file")).bytes.toString());
      expect([...seen]).toEqual(["text"]);
      expect(await limited).toMatchObject({ shellRespawned: true });
      await files.edit("file", (text) => text);
    }
  });

  test("files of an environment that ended say that it is gone", async () => {
    const { environment } = await open();
    await environment.files.write("file", "text");
    await environment.kill();
    await expect(environment.files.read("file")).rejects.toMatchObject({ code: "environment.gone" });
    await expect(environment.files.write("file", "new")).rejects.toMatchObject({ code: "environment.gone" });
    await expect(environment.files.glob("*")).rejects.toMatchObject({ code: "environment.gone" });
  });
}
