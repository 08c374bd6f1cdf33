import { type EnvironmentState, newId } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { type DriverUnderTest, type TestHome, prepareHomes } from "../conformance/fixture.ts";
import { killAtFirstLine } from "../conformance/killed-process.ts";
import { planOf } from "../plan/plan.ts";
import type { Environment } from "../port.ts";
import type { Terminal } from "./port.ts";

export type TerminalsUnderTest = Pick<DriverUnderTest, "open" | "module" | "owner" | "plan">;

const size = { columns: 80, rows: 24 };

/** What terminals promise in every environment; `lasting`: tmux holds them there. */
export function describeTerminals(name: string, subject: TerminalsUnderTest, { lasting }: { lasting: boolean }): void {
  describe(`terminals in ${name}`, () => {
    const { newHome, afterwards } = prepareHomes(subject);

    async function open(): Promise<TestHome & { environment: Environment }> {
      const place = newHome();
      const plan = planOf({ id: newId("environment"), workspace: place.workspace, ...subject.plan });
      const environment = await place.driver.open(plan);
      afterwards(() => environment.end());
      return { ...place, environment };
    }

    test("keys go in, output comes out, and the end tells its exit code and what was on it", async () => {
      const { environment } = await open();
      const terminal = await environment.openTerminal("one", size);
      expect(terminal.lasting).toBe(lasting);
      const viewer = watch(terminal);
      terminal.write(Buffer.from("tty -s && echo is-$((40 + 2)) é; stty size\r"));
      await viewer.shows("is-42 é");
      await viewer.shows("24 80");
      terminal.write(Buffer.from("exit 7\r"));
      const { exitCode, scrollback } = await terminal.ended;
      expect({ exitCode, scrollback }).toEqual({
        exitCode: 7,
        scrollback: expect.stringMatching(/is-42 é\n24 80\n/),
      });
      await terminal.close();
    });

    test("what is printed right before the end is heard", async () => {
      const { environment } = await open();
      const terminal = await environment.openTerminal("one", size);
      const viewer = watch(terminal);
      terminal.write(Buffer.from("seq 1 5000; printf la''st; exit 3\r"));
      expect((await terminal.ended).exitCode).toBe(3);
      expect(viewer.text()).toContain("4999\r\n5000\r\nlast");
      await terminal.close();
    });

    test("a new size is seen by what runs on it", async () => {
      const { environment } = await open();
      const terminal = await environment.openTerminal("one", size);
      const viewer = watch(terminal);
      // Not at a prompt: there bash asks for the size and sets it to what it was told, which may be an older one by then.
      const waits = `sh -c 'trap "echo size-\\$(stty size)" WINCH; echo rea""dy; while :; do sleep 0.05; done'`;
      terminal.write(Buffer.from(`${waits}\r`));
      await viewer.shows("ready");
      terminal.resize({ columns: 101, rows: 33 });
      expect(terminal.size).toEqual({ columns: 101, rows: 33 });
      await viewer.shows("size-33 101");
      await terminal.close();
    });

    test("who comes later sees what was there, then the same as the others, everything once", async () => {
      const { environment } = await open();
      const terminal = await environment.openTerminal("one", size);
      const first = watch(terminal);
      terminal.write(Buffer.from("for n in $(seq 1 3000); do echo line-$n-; done; echo fi''nis\r"));
      await first.shows("line-50-");
      const second = watch(terminal);
      await first.shows("finis");
      await second.shows("finis");
      const all = Array.from({ length: 3000 }, (_, n) => `line-${n + 1}-`);
      expect(linesOf(first.text())).toEqual(all);
      expect(linesOf(second.text())).toEqual(all);
      terminal.write(Buffer.from("echo bo''th\r"));
      await Promise.all([first.shows("both"), second.shows("both")]);
      first.leave();
      terminal.write(Buffer.from("echo al''one\r"));
      await second.shows("alone");
      expect(first.text()).not.toContain("alone");
      await terminal.close();
    });

    test("it is closed with what runs on it, and closing again is nothing", async () => {
      const { environment } = await open();
      const terminal = await environment.openTerminal("one", size);
      const viewer = watch(terminal);
      terminal.write(Buffer.from(`echo be''gun; sleep ${nap}\r`));
      await viewer.shows("begun");
      await terminal.close();
      await terminal.close();
      await terminal.ended.catch(() => undefined);
      const { stdout } = await environment.shell.run({ id: "look", text: countSleepers, timeoutMs: 20_000 });
      expect(stdout.trim()).toBe("0");
    });

    test("closed, it leaves nothing on the disk", async () => {
      const { environment } = await open();
      const look = (id: string) => environment.shell.run({ id, text: ownFolders, timeoutMs: 20_000 });
      const before = (await look("before")).stdout;
      const terminal = await environment.openTerminal("one", size);
      const viewer = watch(terminal);
      terminal.write(Buffer.from("echo be''gun\r"));
      await viewer.shows("begun");
      await terminal.close();
      expect((await look("after")).stdout).toBe(before);
    });

    test("nothing in it is reached by the end of a command in another shell", async () => {
      const { environment } = await open();
      const terminal = await environment.openTerminal("one", size);
      const viewer = watch(terminal);
      terminal.write(Buffer.from("echo be''gun\r"));
      await viewer.shows("begun");
      const stopped = await environment.shell.run({ id: "slow", text: "sleep 1000 & sleep 1000", timeoutMs: 300 });
      expect(stopped.timedOut).toBe(true);
      terminal.write(Buffer.from("echo st''ill\r"));
      await viewer.shows("still");
      await terminal.close();
    });

    test.runIf(lasting)("it goes on when its owner is killed, and is joined with its screen by the next", async () => {
      const { environment, driver, home } = await open();
      await openTypeAndDie(subject.module, {
        home,
        state: environment.state,
        keys: "n=5; echo first-$n; read line; echo got-$line-$n\r",
      });
      environment.detach();
      const found = await driver.reopen(environment.state);
      if (found.kind !== "open") throw new Error("it has gone");
      afterwards(() => found.environment.end());
      const terminal = await found.environment.joinTerminal("kept");
      if (terminal === undefined) throw new Error("there is no terminal");
      const viewer = watch(terminal);
      await viewer.shows("first-5");
      terminal.write(Buffer.from("word\r"));
      await viewer.shows("got-word-5");
      expect(await found.environment.joinTerminal("other")).toBeUndefined();
      terminal.write(Buffer.from("exit 3\r"));
      expect(await terminal.ended).toEqual({ exitCode: 3, scrollback: expect.stringContaining("got-word-5") });
      // Until it is closed, whoever joins it is told the same.
      const again = await found.environment.joinTerminal("kept");
      expect(await again?.ended).toEqual(await terminal.ended);
      await terminal.close();
      expect(await found.environment.joinTerminal("kept")).toBeUndefined();
    });

    test.runIf(lasting)(
      "who comes while a program has the whole screen sees it, and what it covers afterwards",
      async () => {
        const { environment } = await open();
        const terminal = await environment.openTerminal("one", size);
        const first = watch(terminal);
        terminal.write(
          Buffer.from("echo be''fore; printf '\\033[?1049hwh''ole'; read x; printf '\\033[?1049l'; echo af''ter\r"),
        );
        await first.shows("whole");
        const second = watch(terminal);
        await second.shows("whole");
        expect(second.text()).toMatch(/before\r\n[^]*\u001b\[\?1049h[^]*whole/);
        terminal.write(Buffer.from("\r"));
        await second.shows("after");
        await terminal.close();
      },
    );

    test.runIf(lasting)("the text on it can be read while it runs", async () => {
      const { environment } = await open();
      const terminal = await environment.openTerminal("one", size);
      const viewer = watch(terminal);
      terminal.write(Buffer.from("seq 1 100; echo fi''nis\r"));
      await viewer.shows("finis");
      const text = await terminal.scrollback();
      expect(text.slice(text.indexOf("\n1\n") + 1)).toContain(
        `${Array.from({ length: 100 }, (_, n) => n + 1).join("\n")}\nfinis\n`,
      );
      await terminal.close();
    });
  });
}

/** Nobody else on the machine sleeps for so long: where there are no walls, everybody is seen. */
const nap = 1_000_000 + process.pid;

const countSleepers = `n=0; for p in /proc/[0-9]*; do [ "$(tr '\\0' ' ' <"$p/cmdline" 2>/dev/null)" = "sleep ${nap} " ] && n=$((n + 1)); done; echo $n`;

/** What terminals may have made for themselves. */
const ownFolders = "ls -d /tmp/corral-* 2>/dev/null | grep -E '^/tmp/corral-[0-9a-f]{24}'; true";

function watch(terminal: Terminal) {
  let text = "";
  const waiting = new Set<() => void>();
  const leave = terminal.watch((output) => {
    text += output.toString();
    for (const look of waiting) look();
  });
  const shows = (wanted: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!text.includes(wanted)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return {
    leave,
    shows,
    text: () => text,
  };
}

/** A viewer may come in the middle of a line: then the cursor is placed behind what is there of it. */
function linesOf(text: string): readonly string[] {
  return text.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, "").match(/line-\d+-/g) ?? [];
}

const openTypeAndDieScript = `
const [module, home, state, keys] = process.argv.slice(1);
const { openDriver } = await import(module);
const { environment } = await openDriver(home).reopen(JSON.parse(state));
const terminal = await environment.openTerminal("kept", { columns: 80, rows: 24 });
terminal.watch((output) => output.includes("first-5") && console.log("it showed"));
terminal.write(Buffer.from(keys));
`;

/** Another process opens a terminal in an open environment, types, and is killed when it showed. */
async function openTypeAndDie(
  module: string,
  { home, state, keys }: { home: string; state: EnvironmentState; keys: string },
): Promise<void> {
  await killAtFirstLine(openTypeAndDieScript, [module, home, JSON.stringify(state), keys]);
}
