import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callsTool, engineFor, says } from "@corral/daemon/testing";
import type { SessionId } from "@corral/protocol";
import { afterAll, describe, expect, test } from "vitest";
import { eventsUntil, setStage, type Stage } from "./story.ts";

const started = await engineFor("sessions in containers");
afterAll(() => started?.stop());

describe.skipIf(started === undefined)("a session in a container", () => {
  const engine = started!;

  function stageWithEngine(): Promise<Stage> {
    return setStage({ variables: { DOCKER_HOST: `unix://${engine.socket}` } });
  }

  function runInContainer(stage: Stage) {
    return stage.corral("run", "--json", "--env", "container", "--image", engine.image, "work");
  }

  test("is set up, works on its copy, is kept to the list of hosts, and comes back as a branch", async () => {
    await using stage = await stageWithEngine();
    await stage.serve();
    expect((await told(stage, "config", "set", "workspace.setup", "echo ready >ready.txt")).code).toBe(0);
    expect((await told(stage, "config", "set", "network.askSeconds", "0")).code).toBe(0);
    const run = runInContainer(stage);
    (await stage.model.nextRequest()).answer(
      callsTool("shell", { command: `cat ready.txt; echo two >>README.md; echo left >left.txt; ${wayOut}` }),
    );
    const second = await stage.model.nextRequest();
    expect(JSON.stringify(second.toolResults)).toMatch(/ready.*host far\.example\.test is not on the list.*shut/);
    second.answer(says("done"));
    expect({ code: await run.exit, err: run.stderr() }).toMatchObject({ code: 0 });

    const session = await newest(stage);
    const events = await eventsUntil(stage.client(), "workspace.brought-back", { session });
    const { state } = events.find(({ type }) => type === "environment.opened")!.data as { state: { id: string } };
    expect(state).toMatchObject({
      kind: "container",
      network: "allow",
      container: { engine: engine.socket, image: engine.image, volumes: {} },
    });
    expect(await engine.containers()).toEqual([`/corral-${state.id}`]);
    expect(await told(stage, "diff", "--stat")).toMatchObject({
      code: 0,
      out: `README.md  +1 -0\nleft.txt  +1 -0\nready.txt  +1 -0\n3 files on corral/${session}\n`,
    });
    expect((await told(stage, "merge")).code).toBe(0);
    expect(readFileSync(join(stage.repository, "README.md"), "utf8")).toBe("hello\ntwo\n");
    expect(git(stage, "status", "--porcelain")).toBe("");

    await expect.poll(() => isSpareReady(stage)).toBe(true);
    const again = runInContainer(stage);
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: "cat README.md" }));
    const last = await stage.model.nextRequest();
    expect(JSON.stringify(last.toolResults)).toContain("hello\\ntwo\\n");
    last.answer(says("done"));
    expect(await again.exit).toBe(0);
    const [prepared] = (
      await eventsUntil(stage.client(), "workspace.prepared", { session: await newest(stage) })
    ).slice(-1);
    expect(prepared?.data).toMatchObject({ way: "spare" });
    expect((await told(stage, "stop", "--now")).code).toBe(0);
    expect(await engine.containers()).toEqual([]);
  });

  test("outlives a kill -9 of the daemon in a command, and its true result is told once", async () => {
    await using stage = await stageWithEngine();
    const daemon = await stage.serve();
    const run = runInContainer(stage);
    (await stage.model.nextRequest()).answer(
      callsTool("shell", { command: "echo a >>c; mkfifo gate; read x <gate; echo b >>c; echo finished" }),
    );
    const gate = await found(stage, "gate");
    await daemon.kill();
    expect(await engine.containers()).toHaveLength(1);
    await stage.serve();
    writeFileSync(gate, "go\n");
    const next = await stage.model.nextRequest();
    expect(JSON.stringify(next.toolResults)).toContain("finished");
    next.answer(says("done"));
    expect(await run.exit).toBe(0);
    const session = await newest(stage);
    const events = await eventsUntil(stage.client(), "workspace.brought-back", { session });
    const ends = events.filter(({ type }) => ["call.started", "call.settled", "call.unknown"].includes(type));
    expect(ends.map(({ type, data }) => ({ type, result: (data as { result?: unknown }).result }))).toMatchObject([
      { type: "call.started" },
      { type: "call.settled", result: { exitCode: 0, stdout: "finished\n", stderr: "" } },
    ]);
    expect(git(stage, "show", `corral/${session}:c`)).toBe("a\nb\n");
  });
});

/** In perl, for the image has no curl: a host that nobody listed, by the proxy, and the daemon's machine without it. */
const wayOut = `perl -MIO::Socket::INET -e '
  my $socket = IO::Socket::INET->new($ENV{http_proxy} =~ s!^http://!!r) or die "no bridge";
  print $socket "GET http://far.example.test/ HTTP/1.1\\r\\nHost: far.example.test\\r\\nConnection: close\\r\\n\\r\\n";
  print while <$socket>;
  print IO::Socket::INET->new(PeerAddr => "93.184.215.14", PeerPort => 80) ? "open" : "shut";
'`;

async function told(stage: Stage, ...args: string[]) {
  const command = stage.corral(...args);
  return { code: await command.exit, out: command.stdout(), err: command.stderr() };
}

function git(stage: Stage, ...args: string[]): string {
  return execFileSync("git", ["-C", stage.repository, ...args], { encoding: "utf8" });
}

async function newest(stage: Stage): Promise<SessionId> {
  const all = (await stage.client().sessions.list()).map(({ id }) => id);
  return all.toSorted().at(-1)!;
}

function isSpareReady({ home }: Stage): boolean {
  const spares = join(home, "spares");
  return existsSync(spares) && readdirSync(spares).some((name) => !name.includes("."));
}

/** A file of this name in a session's copy, as soon as there is one. */
async function found({ home }: Stage, name: string): Promise<string> {
  const workspaces = join(home, "workspaces");
  const look = () =>
    (existsSync(workspaces) ? readdirSync(workspaces) : [])
      .map((each) => join(workspaces, each, name))
      .find((path) => existsSync(path));
  await expect.poll(look).toBeDefined();
  return look()!;
}
