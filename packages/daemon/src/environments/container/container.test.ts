import { type EnvironmentState, newId } from "@corral/protocol";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, ListenOptions } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { BridgeKeeping } from "../bridge/bridge.ts";
import { openAndDie } from "../conformance/killed-process.ts";
import { planOf } from "../plan/plan.ts";
import type { Environment, EnvironmentPlan } from "../port.ts";
import { isAlive } from "../system/process-identity.ts";
import { jailOwner } from "../walled/index.ts";
import { openContainerDriver } from "./container.ts";
import { Engine } from "./engine.ts";
import { engineFinder } from "./find-engine.ts";
import { openDriverAt } from "./testing/driver.ts";
import { engineFor } from "./testing/podman.ts";

const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "corral-container-"));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function serving(at: string | ListenOptions, answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  server.listen(at);
  await once(server, "listening");
  cleanUps.push(() => void server.close());
  return server;
}

const hasSystemEngine = ["/run/podman/podman.sock", "/var/run/docker.sock"].some((path) => existsSync(path));
test.skipIf(hasSystemEngine)("without an engine the probe says so, and how to get one", async () => {
  const home = newFolder();
  const driver = openContainerDriver({
    home,
    findEngine: engineFinder({ DOCKER_HOST: `unix://${home}/none.sock`, XDG_RUNTIME_DIR: home }),
  });
  const probe = await driver.probe({ image: "none" });
  expect(probe).toMatchObject({ ok: false, reason: expect.stringContaining("no container engine answers") as string });
});

const started = await engineFor("what containers promise besides");
afterAll(() => started?.stop());

describe.skipIf(started === undefined)("a container", () => {
  const engine = started ?? { socket: "", image: "" };

  const openDriver = openDriverAt(engine.socket);

  function place() {
    const home = newFolder();
    const workspace = join(home, "workspace");
    mkdirSync(workspace);
    give(workspace);
    const driver = openDriver(home);
    const plan = (more: Partial<EnvironmentPlan> = {}) =>
      planOf({ id: newId("environment"), workspace, image: engine.image, ...more });
    return { home, workspace, driver, plan };
  }

  async function open(more: Partial<EnvironmentPlan> = {}) {
    const at = place();
    const environment = await at.driver.open(at.plan(more));
    cleanUps.push(() => environment.end());
    return { ...at, environment, run: (text: string) => run(environment, text) };
  }

  test("nobody inside is root or can become it, and nothing but the workspace and scratch space can be written", async () => {
    const { environment, run } = await open();
    const status = readFileSync(`/proc/${environment.state.supervisor.pid}/status`, "utf8");
    const fields = ["Uid", "CapPrm", "CapBnd", "NoNewPrivs", "Seccomp"].map(
      (name) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(status)?.[1],
    );
    expect(fields).toEqual([String(jailOwner()?.uid), "0000000000000000", "0000000000000000", "1", "2"]);
    const attempts = ["/x", "/usr/x", "/etc/x", "/run/x", "/etc/corral/x", "/workspace/x", "/tmp/x", "/home/agent/x"];
    const tried = await run(`for f in ${attempts.join(" ")}; do (: >$f) 2>/dev/null && echo $f; done`);
    expect(tried.split("\n")).toEqual(["/workspace/x", "/tmp/x", "/home/agent/x"]);
  });

  test("there is no network unless it is asked for", async () => {
    const { run } = await open();
    expect(await run("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")).toBe("lo");
  });

  test("a request finds the way out through the proxy where the network is allow, and nothing else does", async () => {
    const egress = newFolder();
    await serving(join(egress, "proxy"), (request, response) => void response.end(`asked for ${request.url}`));
    const outside = await serving({ host: "127.0.0.1", port: 0 }, (_, response) => void response.end("reached"));
    execFileSync("chmod", ["-R", "a+rwX", egress]);
    const { environment, run } = await open({ network: "allow", egress });
    await new BridgeKeeping().ready(environment);
    expect(await run("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")).toBe("lo");
    expect(await run(requestBy("$(echo ${http_proxy#http://} | tr : /)", "http://far.example.test/"))).toContain(
      "asked for http://far.example.test/",
    );
    const { port } = outside.address() as AddressInfo;
    expect(await run(requestBy(`127.0.0.1/${port}`, "/"))).toBe("refused");
    const changed = await run(
      `for f in /run/egress/proxy /run/egress/x /run/runtime /run/runtime-parts/program /run/runtime-parts/x /etc/corral/bridge.cjs; do
        rm -f $f 2>/dev/null; (: >$f) 2>/dev/null && echo $f; done; ls -A /run/egress`,
    );
    expect(changed).toBe("proxy");
  });

  test("what git and others obey in the workspace cannot be changed, and nothing is left of its shield", async () => {
    const at = place();
    execFileSync("git", ["init", "-q", at.workspace]);
    execFileSync("chown", ["-R", `${jailOwner()?.uid}:${jailOwner()?.gid}`, at.workspace]);
    const before = readdirSync(at.workspace);
    const environment = await at.driver.open(at.plan());
    cleanUps.push(() => environment.end());
    const plants = [
      ".git/config",
      ".git/hooks/post-checkout",
      ".git/commondir",
      ".vscode/tasks.json",
      ".envrc",
      ".git/mine",
    ];
    const planted = await run(
      environment,
      `for f in ${plants.join(" ")}; do (mkdir -p \${f%/*}; echo x >>$f) 2>/dev/null && echo $f; done; mv .git moved || echo stays`,
    );
    expect(planted.split("\n")).toEqual([".git/mine", "stays"]);
    await environment.end();
    expect(readdirSync(at.workspace)).toEqual(before);
  });

  test("in the user's own folder, what is saved by renaming while it is protected ends it, also for who finds it again", async () => {
    const at = place();
    const users = newFolder();
    const file = join(users, ".envrc");
    const save = () => {
      writeFileSync(`${file}~`, "saved\n");
      renameSync(`${file}~`, file);
      give(file);
    };
    save();
    give(users);
    const open = async () => {
      const environment = await at.driver.open(at.plan({ workspace: users }));
      cleanUps.push(() => environment.end());
      return environment;
    };
    const [first, second] = [await open(), await open()];
    expect(await run(first, "echo evil >>.envrc || cat .envrc")).toBe("saved");
    expect([first.isOpen, second.isOpen]).toEqual([true, true]);
    second.detach();
    save();
    expect([first.isOpen, first.endedBecause]).toEqual([false, expect.stringContaining(".envrc was replaced")]);
    expect(await at.driver.reopen(second.state)).toMatchObject({ kind: "gone", reason: first.endedBecause });
    expect(await run(await open(), "echo evil >>.envrc || cat .envrc")).toBe("saved");
  });

  test("read access and readable folders are read-only", async () => {
    const readable = newFolder();
    writeFileSync(join(readable, "file"), "shared");
    execFileSync("chmod", ["-R", "a+rX", readable]);
    const { run } = await open({ access: "read", readable: [readable] });
    expect(
      await run(`cat ${readable}/file; (: >${readable}/x) 2>/dev/null || echo no; (: >x) 2>/dev/null || echo no`),
    ).toBe("sharedno\nno");
  });

  test("its limits are the engine's, hard, and a command that runs into one says which", async () => {
    const { driver, environment } = await open({
      limits: { ...planOf({ id: newId("environment"), workspace: "" }).limits, memoryBytes: 64 * 2 ** 20 },
    });
    const eater = `perl -e 'my @a; push @a, "x" x 1000000 while 1'`;
    const eaten = await environment.shell.run({ id: "eat", text: eater, timeoutMs: 60_000 });
    expect(eaten).toMatchObject({ exitCode: 137, limit: "memory" });
    const probe = await driver.probe({ image: engine.image });
    expect(probe.ok && probe.limits?.map(({ limit, kept }) => `${limit} ${kept}`)).toEqual([
      "processes hard",
      "memory hard",
      "cpu hard",
      "disk soft",
      "watches soft",
    ]);
  });

  test("an image that is not there is named with the way to get it, and nothing is left", async () => {
    const { driver, plan, home } = place();
    await expect(driver.open(plan({ image: "docker.io/library/none:1" }))).rejects.toMatchObject({
      code: "jail.unavailable",
      hint: "Fetch it: podman pull docker.io/library/none:1",
    });
    await expect(driver.open(plan({ image: undefined }))).rejects.toMatchObject({ code: "jail.unavailable" });
    expect(existsSync(join(home, "environments"))).toBe(false);
  });

  test("an image is built from its folder once, and again when the folder has changed", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "Containerfile"), `FROM ${engine.image}\nCOPY said /said\n`);
    writeFileSync(join(folder, "said"), "one");
    const images: (string | undefined)[] = [];
    const said = async () => {
      const { environment, run } = await open({ image: folder });
      images.push(environment.state.container?.image);
      return run("cat /said");
    };
    expect([await said(), await said()]).toEqual(["one", "one"]);
    writeFileSync(join(folder, "said"), "two");
    expect(await said()).toBe("two");
    expect([images[0] === images[1], images[1] === images[2]]).toEqual([true, false]);
  });

  test("a program of the image that is to run as root runs as who started it", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "Containerfile"), `FROM ${engine.image}\nCOPY --chmod=4755 whoever /whoever\n`);
    copyFileSync("/usr/bin/id", join(folder, "whoever"));
    const { run } = await open({ image: folder });
    expect(await run("stat -c '%a %u' /whoever; /whoever -u")).toBe(`4755 0\n${jailOwner()?.uid}`);
  });

  test("a named volume is seen where it was put, and none lies over the walls", async () => {
    const volumes = { "/opt/cache": "corral-test-cache" };
    const one = await open({ volumes });
    expect(one.environment.state.container).toMatchObject({ image: engine.image, volumes });
    expect(await one.run("grep -c ' /opt/cache ' /proc/self/mountinfo")).toBe("1");
    for (const over of ["/workspace/.git", "/run", "/proc"])
      await expect(one.driver.open(one.plan({ volumes: { [over]: "x" } }))).rejects.toMatchObject({
        code: "jail.unavailable",
      });
  });

  test("an engine that does not share this machine's files and processes is refused", async () => {
    const { home, workspace } = place();
    const socket = join(home, "elsewhere.sock");
    await serving(socket, (request, response) => {
      const answers: Record<string, unknown> = { "/info": { MemoryLimit: true }, [`/images/there/json`]: { Id: "i" } };
      const url = request.url ?? "";
      if (url.startsWith("/containers/create")) response.end(JSON.stringify({ Id: "c" }));
      else if (url === "/containers/c/json")
        response.end(JSON.stringify({ Id: "c", State: { Running: false, Pid: 0, ExitCode: 125 }, Config: {} }));
      else response.end(JSON.stringify(answers[url] ?? {}));
    });
    const driver = openDriverAt(socket)(home);
    await expect(driver.open(planOf({ id: newId("environment"), workspace, image: "there" }))).rejects.toMatchObject({
      code: "jail.unavailable",
    });
    expect(readdirSync(join(home, "environments", "container"))).toEqual([]);
  });

  test("a sweep removes what a killed process left and is not on record, and leaves the rest alone", async () => {
    const { home, driver, plan } = place();
    const module = new URL("testing/driver.ts", import.meta.url);
    module.searchParams.set("socket", engine.socket);
    const left = () => openAndDie(module.href, home, plan());
    const [stray, recorded] = [await left(), await left()];
    cleanUps.push(async () => {
      const found = await driver.reopen(recorded);
      if (found.kind === "open") await found.environment.end();
    });
    const failures: string[] = [];
    await driver.sweep({ onRecord: new Set([recorded.id]), onFailure: (name) => failures.push(name) });
    const api = new Engine(engine.socket);
    const known = async ({ container }: EnvironmentState) => (await api.inspect(container?.id ?? "")) !== undefined;
    expect([await known(stray), await known(recorded)]).toEqual([false, true]);
    expect([stray, recorded].map(({ supervisor }) => isAlive(supervisor))).toEqual([false, true]);
    expect(readdirSync(join(home, "environments", "container"))).toEqual([recorded.id]);
    expect(failures).toEqual([]);
  });

  test("a sweep finds by its token a container whose id was not written down, and takes none for its own by name", async () => {
    const { home, driver, plan } = place();
    const environment = await driver.open(plan());
    const { id, container } = environment.state;
    environment.detach();
    const folder = join(home, "environments", "container", id);
    const record = JSON.parse(readFileSync(join(folder, "container.json"), "utf8")) as { id?: string; token: string };
    const write = (more: object) =>
      writeFileSync(join(folder, "container.json"), JSON.stringify({ ...record, ...more }));
    const sweep = () => driver.sweep({ onRecord: new Set(), onFailure: (_, error) => expect(error).toBeUndefined() });
    // As if this process had died before the container had begun.
    const opened = JSON.parse(readFileSync(join(folder, "record.json"), "utf8")) as object;
    writeFileSync(join(folder, "record.json"), JSON.stringify({ ...opened, opener: null }));
    rmSync(join(folder, "supervisor.json"));
    execFileSync("cp", ["-r", folder, `${folder}.kept`]);
    write({ token: "somebody-else's-token" });
    await sweep();
    expect(isAlive(environment.state.supervisor)).toBe(true);
    execFileSync("mv", [`${folder}.kept`, folder]);
    write({ id: undefined });
    await sweep();
    expect([
      isAlive(environment.state.supervisor),
      await new Engine(engine.socket).inspect(container?.id ?? ""),
    ]).toEqual([false, undefined]);
  });
});

/** In perl, for the image has no curl: says what answered, at HOST/PORT. */
function requestBy(at: string, url: string): string {
  return `perl -MIO::Socket::INET -e '
    my ($host, $port) = split "/", shift;
    my $socket = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port) or print("refused"), exit;
    print $socket "GET $ARGV[0] HTTP/1.1\\r\\nHost: $ARGV[1]\\r\\nConnection: close\\r\\n\\r\\n";
    print while <$socket>;
  ' ${at} ${url} ${URL.parse(url)?.host ?? "here"}`;
}

async function run(environment: Environment, text: string): Promise<string> {
  const { stdout } = await environment.shell.run({ id: newId("command"), text, timeoutMs: 60_000 });
  return stdout.trim();
}

function give(path: string): void {
  const owner = jailOwner();
  if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
}
