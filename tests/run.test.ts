import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@corral/client";
import { callsTool, says } from "@corral/daemon/testing";
import { type WireEvent, wireEvent } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { dist, eventsUntil, listen, setStage } from "./story.ts";

/** How many streams of events the daemon has open, by protocol. */
async function streamsOf({ endpoint }: Client): Promise<Readonly<Record<string, number>>> {
  const answer = await fetch(`${endpoint.url}/metrics`, { headers: { authorization: `Bearer ${endpoint.token}` } });
  const lines = (await answer.text()).matchAll(/^corral_streams\{protocol="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries(Array.from(lines, ([, protocol, count]) => [protocol!, Number(count)]));
}

describe("corral run", () => {
  test("streams a reply, runs two commands in the jail, exits with 0, and the log tells the same again by cursor", async () => {
    await using stage = await setStage();
    await stage.serve();
    const run = stage.corral("run", "look around");

    const first = await stage.model.nextRequest();
    expect(first.newInputs).toEqual(["look around"]);
    const reply = first.stream();
    reply.text("Let me ");
    await run.shows("Let me ");
    reply.text("look.");
    reply.endText();
    reply.call("shell", { command: "cat README.md && echo changed > README.md" });
    reply.finish();

    (await stage.model.nextRequest()).answer(callsTool("shell", { command: "cat README.md; cd / && pwd" }));
    const third = await stage.model.nextRequest();
    expect(JSON.stringify(third.toolResults)).toContain("changed");
    third.answer(says("All is well."));

    expect(await run.exit).toBe(0);
    expect(run.stdout()).toContain("Let me look.");
    expect(run.stdout()).toContain("All is well.");
    expect(run.stdout().match(/Let me/g)).toHaveLength(1);

    const client = stage.client();
    const [session] = await client.sessions.list();
    if (session === undefined) throw new Error("there is no session");
    expect(session.state.state).toBe("idle");
    const { events: all } = await client.sessions.events(session.id, { after: 0 });
    expect(all.filter((each) => each.type === "call.settled")).toHaveLength(2);
    const middle = all[5];
    if (middle === undefined) throw new Error("there are too few events");
    // What is done after an activity comes in the meantime.
    const { events: rest } = await client.sessions.events(session.id, { after: middle.seq });
    expect(rest.slice(0, all.length - 6)).toEqual(all.slice(6));
  });

  test("goes on when one of those who watch it leaves, in whatever way, and the others see its end", async () => {
    await using stage = await setStage();
    await stage.serve();
    const client = stage.client();
    const starter = stage.corral("run", "wait for the word");
    (await stage.model.nextRequest()).answer(
      callsTool("shell", { command: "echo begun; until test -e go; do sleep 0.05; done; echo over" }),
    );
    await starter.shows("begun");
    const session = (await client.sessions.list())[0]!.id;
    const watcher = stage.corral("attach", session);
    const stayer = stage.corral("attach", session);
    await Promise.all([watcher.shows("begun"), stayer.shows("begun")]);
    const leaving = new AbortController();
    const followers = (["sse", "websocket"] as const).map((over) => listen(stage, { over, signal: leaving.signal }));
    await expect.poll(() => streamsOf(client)).toEqual({ sse: 4, websocket: 1 });

    leaving.abort();
    await Promise.all(followers.map(({ end }) => end));
    watcher.process.kill("SIGINT");
    expect(await watcher.exit).toBe(0);
    starter.process.kill("SIGKILL");
    await starter.exit;
    await expect.poll(() => streamsOf(client)).toEqual({ sse: 1, websocket: 0 });
    expect((await client.sessions.get(session)).state.state).toBe("thinking");

    writeFileSync(join(stage.home, "workspaces", session, "go"), "");
    const next = await stage.model.nextRequest();
    expect(JSON.stringify(next.toolResults)).toContain("begun\\nover");
    next.answer(says("It is over."));
    await stayer.shows("It is over.");
    const events = await eventsUntil(client, "activity.settled", { session });
    expect(events.at(-1)!.data).toMatchObject({ outcome: "done" });
    expect(events.filter(({ type }) => type.startsWith("activity.")).map(({ type }) => type)).toEqual([
      "activity.opened",
      "activity.settled",
    ]);
  });

  test("prints the stored events as JSON lines with --json", async () => {
    await using stage = await setStage();
    stage.model.script([callsTool("shell", { command: "echo out; echo err >&2; exit 3" }), says("done")]);
    const run = stage.corral("run", "--json", "try it");
    expect(await run.exit).toBe(0);
    const events = run
      .stdout()
      .trim()
      .split("\n")
      .map((line): WireEvent => wireEvent.parse(JSON.parse(line)));
    const settled = events.find((each) => each.type === "call.settled");
    expect(settled?.data).toMatchObject({ result: { exitCode: 3, stdout: "out\n", stderr: "err\n" } });
    expect(events.at(-1)?.type).toBe("activity.settled");
    const seqs = events.map((each) => each.seq);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  });

  test("a command sees neither the user's home, nor the daemon's environment, nor the network", async () => {
    await using stage = await setStage();
    const outside = createServer((_, response) => response.end("reached"));
    outside.listen(0, "127.0.0.1");
    await once(outside, "listening");
    const { port } = outside.address() as AddressInfo;
    const secret = join(stage.home, "..", "private.txt");
    writeFileSync(secret, "the user's own words");
    const probe = [
      `cat ${secret}`,
      `ls ${stage.home}`,
      "env",
      `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>&1 || true`,
      `perl -MIO::Socket::INET -e 'print IO::Socket::INET->new("127.0.0.1:${port}") ? "NET-OPEN" : "NET-SHUT"'`,
      "ls /proc | grep -c '^[0-9]'",
      "id -u",
    ].join("\n");
    stage.model.script([callsTool("shell", { command: probe }), says("done")]);
    const run = stage.corral("run", "--json", "probe");
    expect(await run.exit).toBe(0);
    outside.close();
    const settled = run
      .stdout()
      .trim()
      .split("\n")
      .map((line) => wireEvent.parse(JSON.parse(line)))
      .find((each) => each.type === "call.settled");
    const { stdout, stderr } = (settled!.data as { result: { stdout: string; stderr: string } }).result;
    expect(stdout).not.toContain("the user's own words");
    expect(stderr).toContain("private.txt");
    expect(stdout).not.toContain("daemon.json");
    expect(stdout).not.toContain("sk-story-secret");
    expect(stdout).not.toContain("ANTHROPIC");
    expect(stdout).toContain("NET-SHUT");
    expect(stdout.trim().split("\n").at(-1)).not.toBe("0");
  });

  test("ends with 1 and says why when the model refuses", async () => {
    await using stage = await setStage();
    const run = stage.corral("run", "hi");
    (await stage.model.nextRequest()).fail(401);
    expect(await run.exit).toBe(1);
    expect(run.stderr()).toContain("ANTHROPIC_API_KEY");
  });

  test("without a key says so, and what is set here alone, before a session is made", async () => {
    await using stage = await setStage({ variables: { ANTHROPIC_API_KEY: "" } });
    await stage.serve();
    const run = stage.corral("run", "hi");
    expect(await run.exit).toBe(1);
    expect(run.stderr()).toBe(
      "error: There is no key for the provider anthropic.\n" +
        "hint: Run `corral auth login anthropic`, or set ANTHROPIC_API_KEY where the daemon starts.\n",
    );
    const env = { ...stage.variables, ANTHROPIC_API_KEY: "sk-only-here" };
    const program = [join(dist, "cli.js"), "run", "hi"];
    const { status, stderr } = spawnSync(process.execPath, program, { cwd: stage.repository, env, encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toContain("hint: ANTHROPIC_API_KEY is set here, but the daemon was started without it");
    expect(await stage.client().sessions.list()).toEqual([]);
  });

  test.each(["inbox.admitting:1", "inbox.admitted:1"])(
    "whose daemon dies at %s is one session, which is told the prompt once",
    async (fault) => {
      await using stage = await setStage();
      const daemon = await stage.serve({ fault });
      const run = stage.corral("run", "only once");
      await daemon.gone;
      const request = await stage.model.nextRequest();
      expect(request.newInputs).toEqual(["only once"]);
      request.answer(says("Fine."));
      expect([await run.exit, run.stdout()]).toEqual([0, "Fine.\n"]);
      const [session, ...others] = await stage.client().sessions.list();
      expect(others).toEqual([]);
      const { events } = await stage.client().sessions.events(session!.id, { types: ["session.created", "input.*"] });
      expect(events.map(({ type }) => type)).toEqual(["session.created", "input.admitted", "input.promoted"]);
      expect(stage.model.requests).toHaveLength(1);
    },
  );

  test("outside a git repository says what to do and changes nothing", async () => {
    await using stage = await setStage();
    const run = stage.corralIn(stage.home.replace(/home$/, ""), "run", "hi");
    expect(await run.exit).toBe(1);
    expect(run.stderr()).toContain("git init");
    expect(await stage.client().sessions.list()).toEqual([]);
  });
});
