import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Bench, command, result, runner, tellFifo } from "./fixture.ts";

export function printing({ open }: Bench): void {
  test("bytes that are no text are replaced, the others kept", async () => {
    const { run } = await open();
    const { stdout, stdoutBytes } = await run(String.raw`printf 'a\377b\000c\303\251'`);
    expect({ stdout, stdoutBytes }).toEqual({ stdout: "a\uFFFDb\0cé", stdoutBytes: 7 });
  });

  test("long output keeps its beginning, its end and its size, and cuts no character", async () => {
    const { run } = await open();
    const long = await run("echo begin; yes é€ | head -c 5000000; echo; echo end");
    expect(long.stdoutBytes).toBe(5_000_011);
    expect(long.stdout.length).toBeLessThan(70_000);
    expect(long.stdout).toMatch(/^begin\né€\n[^]*\[… \d+ bytes left out …\][^]*\nend\n$/);
    expect(long.stdout).not.toContain("\uFFFD");
  });

  test("what a result leaves out can be read, for a while also when it was forgotten", async () => {
    const { environment, run } = await open();
    await run("seq 1 100000; printf tail >&2", "long");
    environment.shell.forget("long");
    const whole = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join("");
    const middle = await environment.shell.readWhole("long", "stdout", { from: 300_000, bytes: 1_000 });
    expect(middle).toEqual({ bytes: Buffer.from(whole.slice(300_000, 301_000)), size: whole.length });
    const { bytes } = await environment.shell.readWhole("long", "stderr");
    expect(bytes.toString()).toBe("tail");
    expect(await environment.shell.readWhole("other", "stdout")).toEqual({ bytes: Buffer.alloc(0), size: 0 });
  });

  test("live output comes while the command runs, in order, and complete", async () => {
    const { environment, workspace } = await open();
    const heard = { stdout: "", stderr: "" };
    const firstWord = Promise.withResolvers<void>();
    const running = environment.shell.run({
      ...command("printf 'one \\303'; mkfifo go-on; chmod 666 go-on; read x <go-on; printf '\\251 two'; echo err >&2"),
      onOutput: (stream, text) => {
        heard[stream] += text;
        if (heard.stdout.startsWith("one")) firstWord.resolve();
      },
    });
    await firstWord.promise;
    await tellFifo(join(workspace, "go-on"));
    expect(await running).toEqual(result({ stdout: "one é two", stderr: "err\n" }));
    expect(heard).toEqual({ stdout: "one é two", stderr: "err\n" });
  });

  test("a command that writes without end is ended, and the result names the limit", async () => {
    const { environment, driver, run } = await open({ outputBytes: 1_000_000 });
    // Never so fast that it would fill the memory of a machine on which nobody looks for seconds.
    const endless = await run("echo begin; while yes | head -c 200000; do sleep 0.01; done");
    expect(endless).toMatchObject({ limit: "output", timedOut: false, shellRespawned: true });
    expect(endless.stdoutBytes).toBeGreaterThan(1_000_000);
    expect(endless.stdout).toMatch(/^begin\ny\n/);
    const oneLine = await run("while head -c 200000 /dev/zero | tr '\\0' x; do sleep 0.01; done");
    expect(oneLine).toMatchObject({
      limit: "output",
      timedOut: false,
      stdout: expect.stringMatching(/^x+\n\[… \d+ bytes left out …\]\nx+$/) as string,
    });
    const line = await run("head -c 900000 /dev/zero | tr '\\0' x");
    expect(line).toMatchObject({ exitCode: 0, stdoutBytes: 900_000 });
    environment.detach();
    const reopened = await driver.reopen(environment.state);
    if (reopened.kind !== "open") throw new Error("it did not live on");
    expect(await runner(reopened.environment)("while yes | head -c 200000; do sleep 0.01; done >&2")).toMatchObject({
      limit: "output",
    });
    reopened.environment.detach();
  });

  test("what goes on writing in the background is kept from filling the disk", async () => {
    const { environment, inside, run } = await open({ outputBytes: 1_000_000 });
    const text = "(while sleep 0.01; do head -c 100000 /dev/zero; done) & echo $!";
    const [pid] = (await run(text, "writer")).stdout.split("\n");
    environment.shell.forget("writer");
    const output = join(inside.spoolOutside, "writer.out");
    await expect.poll(() => statSync(output).size).toBeGreaterThan(1_000_000);
    // Truncated, it is a file with a hole at its beginning.
    await expect.poll(() => statSync(output).size - statSync(output).blocks * 512).toBeGreaterThan(500_000);
    await run(`kill ${pid}`);
  });
}
