import { join } from "node:path";
import { expect, test } from "vitest";
import { type Bench, result, tellFifo } from "./fixture.ts";

export function answering({ open }: Bench): void {
  test("stdout, stderr and exit code are told apart", async () => {
    const { run } = await open();
    expect(await run("echo out; echo err >&2; (exit 7)")).toEqual(
      result({ exitCode: 7, stdout: "out\n", stderr: "err\n" }),
    );
  });

  test("folder, variables and functions stay from command to command", async () => {
    const { run } = await open();
    await run("mkdir sub; cd sub; kept=value; greet() { echo hello $1; }");
    expect((await run("basename $PWD; echo $kept; greet you")).stdout).toBe("sub\nvalue\nhello you\n");
  });

  test("commands have no input to wait for", async () => {
    const { run } = await open();
    expect(await run("cat; read x")).toEqual(result({ exitCode: 1 }));
  });

  test("a command may be a megabyte long, have the ends of lines of another system, and bytes that no text has", async () => {
    const { run } = await open();
    const long = "é".repeat(600_000);
    expect(await run(`printf %s "${long}" | wc -c`)).toMatchObject({ exitCode: 0, stdout: "1200000\n" });
    expect(await run("printf %s one\r\nprintf two")).toMatchObject({ exitCode: 0, stdout: "one\rtwo" });
    expect((await run("echo a; # \0 b\necho c")).exitCode).toBeLessThan(128);
    expect((await run("echo on")).stdout).toBe("on\n");
  });

  test("processes in the background hold nobody up, wherever they went and whatever they hold", async () => {
    const { run } = await open();
    const text = "sleep 1000 & setsid sleep 1000 & (setsid sh -c 'sleep 1000; :' &); nohup sleep 1000 & echo out";
    expect(await run(text)).toEqual(result({ stdout: "out\n" }));
    expect((await run("echo on")).stdout).toBe("on\n");
  });

  test.each(["forged", "stopped", "$_corral_id", "$_corral_id 0", "$_corral_id 0 $_corral_pass", "lost $_corral_id"])(
    "no printed bytes and no words to the daemon's own channel end a command, not %j",
    async (word) => {
      const { run, inside } = await open();
      await run("echo before");
      const forged = await run(`echo "${word}"; echo "${word}" >${inside.spool}/done; sleep 0.1; echo true; false`);
      expect(forged).toMatchObject({
        exitCode: 1,
        stdout: expect.stringMatching(/\ntrue\n$/),
        shellRespawned: false,
      });
    },
  );

  test("a short command that takes its own text away leaves the next ones theirs", async () => {
    const { run, inside } = await open();
    expect(await run(`rm ${inside.spool}/command; echo out`)).toMatchObject({ exitCode: 0, stdout: "out\n" });
    expect(await run("echo a longer one than before")).toMatchObject({ stdout: "a longer one than before\n" });
    expect(await run("echo short")).toMatchObject({ stdout: "short\n" });
  });

  test("commands run one at a time and in order", async () => {
    const { run } = await open();
    const all = ["sleep 0.05; echo a >>order", "echo b >>order", "cat order"].map((text) => run(text));
    expect((await Promise.all(all)).at(-1)?.stdout).toBe("a\nb\n");
  });

  test("an id runs once, however often it is sent", async () => {
    const { environment, run } = await open();
    const once_ = { id: "same", text: "echo x >>count; sleep 0.05; cat count", timeoutMs: 60_000 };
    const both = await Promise.all([environment.shell.run(once_), environment.shell.run(once_)]);
    const later = await environment.shell.run(once_);
    expect([...both, later]).toEqual(Array.from({ length: 3 }, () => result({ stdout: "x\n" })));
    expect((await run("cat count")).stdout).toBe("x\n");
  });

  test("a command is absent, begun and done", async () => {
    const { environment, workspace } = await open();
    const { shell } = environment;
    expect(await shell.find("it")).toEqual({ kind: "absent" });
    const begun = Promise.withResolvers<void>();
    const text = "echo begun; mkfifo go-on; chmod 666 go-on; read x <go-on";
    const running = shell.run({ id: "it", text, timeoutMs: 60_000, onOutput: () => begun.resolve() });
    await begun.promise;
    expect(await shell.find("it")).toEqual({ kind: "begun" });
    await tellFifo(join(workspace, "go-on"));
    const done = await running;
    expect(await shell.find("it")).toEqual({ kind: "done", result: done });
  });

  test("what an agent links into the spool is not read outside", async () => {
    const { environment, inside, run } = await open();
    const { spool } = inside;
    await run(`ln -sf /etc/shadow ${spool}/linked.out; ln -sf /etc/shadow ${spool}/planted.rc`, "linked");
    expect(await environment.shell.find("linked")).toEqual({ kind: "done", result: result({}) });
    expect(await environment.shell.find("planted")).toEqual({ kind: "absent" });
  });
}
