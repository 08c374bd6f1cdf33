import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandResult, newId } from "@corral/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BridgeKeeping, type Environment, planOf } from "../environments/index.ts";
import { jailOwner, openJailDriver } from "../environments/jail/index.ts";
import { makeRepository } from "./repository.ts";
import { loopback, openStage, type Stage } from "../egress/testing/stage.ts";

/** Real programs in a real jail, through the bridge and the proxy, to servers on loopback under names of their own. */
const cleanUps: (() => unknown)[] = [];
let stage: Stage;
let environment: Environment;
let served: string;
let files: string;

beforeAll(async () => {
  const owner = jailOwner();
  stage = await openStage({ hasOtherUsers: owner !== undefined });
  cleanUps.push(() => stage[Symbol.asyncDispose]());
  served = mkdtempSync(join(tmpdir(), "corral-served-"));
  cleanUps.push(() => rmSync(served, { recursive: true, force: true }));
  const workspace = join(stage.home, "workspace");
  mkdirSync(workspace);
  if (owner !== undefined) chownSync(workspace, owner.uid, owner.gid);
  files = `files.example.test${await stage.serve(folder(served))}`;
  stage.list = [files];
  environment = await openJailDriver({ home: stage.home }).open(
    planOf({
      id: newId("environment"),
      workspace,
      network: "allow",
      egress: stage.folder,
      readable: [...(pip?.readable ?? [])],
    }),
  );
  cleanUps.push(() => environment.end());
  await new BridgeKeeping().ready(environment);
});

afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

function run(text: string): Promise<CommandResult> {
  return environment.shell.run({ id: newId("call"), text, timeoutMs: 60_000 });
}

describe.skipIf(isMissing("curl"))("curl", () => {
  test("reaches a listed host", async () => {
    writeFileSync(join(served, "greeting"), "hello");
    expect(await run(`curl -sS http://${files}/greeting`)).toMatchObject({ exitCode: 0, stdout: "hello", stderr: "" });
  });

  test("is told what to do about a host that is not listed", async () => {
    const { stdout } = await run("curl -sS http://other.example.test/");
    expect(stdout).toBe(
      "corral: host other.example.test is not on the list: corral network allow other.example.test\n",
    );
    const { stderr, exitCode } = await run("curl -vsS https://other.example.test/");
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("403 corral: host other.example.test is not on the list: corral network allow");
  });

  test("follows a redirect no further than the list goes", async () => {
    const port = await stage.serve((_request, response) =>
      response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end(),
    );
    await stage.allow(`redirects.example.test${port}`);
    const { stdout } = await run(`curl -sSL http://redirects.example.test${port}/`);
    expect(stdout).toContain("corral: 169.254.169.254 is not the name of a host on the network");
  });

  test("reaches what listens inside without the proxy, and nothing outside without it", async () => {
    const port = files.split(":")[1];
    expect((await run(`curl -sS --noproxy '*' http://${loopback}:${port}/greeting`)).exitCode).toBe(7);
    expect((await run("curl -sS --noproxy '*' http://93.184.215.14/")).exitCode).toBe(7);
    expect((await run(`curl -sS --noproxy '*' http://${files}/greeting`)).exitCode).toBe(6);
  });

  test.skipIf(isMissing("openssl"))("speaks TLS with a listed host from end to end", async () => {
    const { key, cert, port, close } = await serveTls("tls.example.test");
    cleanUps.push(close);
    writeFileSync(join(served, "ca.pem"), cert);
    expect(key.length).toBeGreaterThan(0);
    await stage.allow(`tls.example.test${port}`);
    const got = await run(
      `curl -sS http://${files}/ca.pem -o ca.pem && curl -sS --cacert ca.pem https://tls.example.test${port}/`,
    );
    expect(got).toMatchObject({ exitCode: 0, stdout: "secret", stderr: "" });
    await expect
      .poll(async () => (await stage.recorded()).findLast(({ host }) => host === "tls.example.test"))
      .toMatchObject({ verdict: "allowed", connections: 1, bytesIn: expect.any(Number) });
  });
});

test("git clones", async () => {
  const repository = makeRepository(join(served, "source"), { "a.txt": "from afar\n" });
  execFileSync("git", ["clone", "-q", "--bare", repository, join(served, "repo.git")]);
  execFileSync("git", ["-C", join(served, "repo.git"), "update-server-info"]);
  expect(await run(`git clone -q http://${files}/repo.git cloned && cat cloned/a.txt`)).toMatchObject({
    exitCode: 0,
    stdout: "from afar\n",
  });
  const refused = await run("git clone -q https://other.example.test/repo.git");
  expect(refused.stderr).toContain("403");
});

test.skipIf(isMissing("npm"))("npm installs", async () => {
  const source = join(served, "package");
  mkdirSync(source);
  writeFileSync(join(source, "package.json"), JSON.stringify({ name: "demo", version: "1.0.0", main: "index.js" }));
  writeFileSync(join(source, "index.js"), "module.exports = 'installed';");
  execFileSync("tar", ["-C", served, "-czf", join(served, "demo.tgz"), "package"]);
  const dist = { tarball: `http://${files}/demo.tgz` };
  const version = { name: "demo", version: "1.0.0", main: "index.js", dist };
  const packument = { name: "demo", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } };
  writeFileSync(join(served, "demo"), JSON.stringify(packument));
  const installed = await run(
    `mkdir -p app && cd app && echo '{}' >package.json && npm install demo --registry http://${files}/ --no-audit --no-fund --loglevel error && ` +
      `node -p 'require("demo")'; cd ..`,
  );
  expect(installed).toMatchObject({ exitCode: 0 });
  expect(installed.stdout).toContain("installed");
});

const pip = findPip();

test.skipIf(pip === undefined)("pip installs", async () => {
  mkdirSync(join(served, "simple/demo"), { recursive: true });
  const wheel = "demo-1.0.0-py3-none-any.whl";
  execFileSync("python3", ["-c", makeWheel, join(served, "simple/demo", wheel)]);
  writeFileSync(join(served, "simple/demo/index.html"), `<a href="${wheel}">${wheel}</a>`);
  const installed = await run(
    `${pip?.python} -m pip install -q --disable-pip-version-check --no-cache-dir --target target --index-url http://${files}/simple/ ` +
      `--trusted-host files.example.test demo && PYTHONPATH=target ${pip?.python} -c 'import demo; print(demo.word)'`,
  );
  expect(installed).toMatchObject({ exitCode: 0, stdout: "installed\n" });
});

test("what the way out is made of cannot be changed from inside", async () => {
  const { stdout } = await run(
    "for each in /run/egress/proxy /run/egress/new /run/runtime /etc/corral/bridge.cjs; do rm -f $each 2>/dev/null; " +
      "(echo x >$each) 2>/dev/null && echo changed $each; done; ls -A /run/egress",
  );
  expect(stdout).toBe("proxy\n");
});

test("a bridge that was ended is there again before the next command", async () => {
  const bridge = new BridgeKeeping();
  await run(
    "kill -9 $(grep -alE 'bridge.cjs' /proc/[0-9]*/cmdline | sed 's/[^0-9]//g' | grep -vx $$) 2>/dev/null; true",
  );
  await expect
    .poll(async () => {
      await bridge.ready(environment);
      return (await run(`curl -sS http://${files}/greeting`)).stdout;
    })
    .toBe("hello");
});

test("as long as nobody wants to go out, the bridge is not there", async () => {
  if (isMissing("systemd-socket-activate")) return;
  const workspace = join(stage.home, "workspace");
  const plan = planOf({ id: newId("environment"), workspace, network: "allow", egress: stage.folder });
  const another = await openJailDriver({ home: stage.home }).open(plan);
  cleanUps.push(() => another.end());
  await new BridgeKeeping().ready(another);
  const look = (text: string) => another.shell.run({ id: newId("call"), text, timeoutMs: 60_000 });
  const names = "cat /proc/[0-9]*/comm | grep -E '^(node|runtime|systemd)' | sort -u";
  expect((await look(names)).stdout).toMatch(/^systemd-socket/);
  await look("curl -sS http://other.example.test/");
  expect((await look(names)).stdout).not.toMatch(/^systemd-socket/);
});

function isMissing(program: string): boolean {
  const isFound = spawnSync("/bin/sh", ["-c", `PATH=/usr/bin:/bin command -v ${program}`]).status === 0;
  if (!isFound) process.stderr.write(`NOT TRIED: ${program} is not installed\n`);
  return !isFound;
}

/** Wherever this machine's Python has it. */
function findPip(): { readonly python: string; readonly readable: readonly string[] } | undefined {
  const found = spawnSync("python3", ["-c", "import sys, pip; print(sys.prefix)"], { encoding: "utf8" });
  const prefix = found.stdout?.trim();
  if (found.status === 0)
    return { python: `${prefix}/bin/python3`, readable: prefix.startsWith("/usr") ? [] : [prefix] };
  process.stderr.write("NOT TRIED: pip is not installed\n");
  return undefined;
}

const makeWheel = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as z:
    z.writestr("demo.py", "word = 'installed'")
    z.writestr("demo-1.0.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0.0\\n")
    z.writestr("demo-1.0.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    z.writestr("demo-1.0.0.dist-info/RECORD", "demo.py,,\\ndemo-1.0.0.dist-info/METADATA,,\\ndemo-1.0.0.dist-info/WHEEL,,\\ndemo-1.0.0.dist-info/RECORD,,\\n")
`;

function folder(root: string): RequestListener {
  return ({ url = "/" }, response) => {
    const path = decodeURIComponent(new URL(url, "http://host").pathname);
    try {
      const isIndex = path.endsWith("/");
      if (isIndex) response.setHeader("content-type", "text/html");
      response.end(readFileSync(join(root, path, isIndex ? "index.html" : "")));
    } catch {
      response.writeHead(404).end();
    }
  };
}

async function serveTls(name: string) {
  const place = mkdtempSync(join(tmpdir(), "corral-tls-"));
  const [keyFile, certFile] = [join(place, "key.pem"), join(place, "cert.pem")];
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  const kind = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
  execFileSync("openssl", [...kind, ...subject, "-keyout", keyFile, "-out", certFile], { stdio: "ignore" });
  const [key, cert] = [readFileSync(keyFile), readFileSync(certFile)];
  rmSync(place, { recursive: true });
  const server = createServer({ key, cert }, (_request, response) => response.end("secret"));
  await new Promise<void>((resolve) => server.listen(0, loopback, resolve));
  const close = () => server.close();
  return { key, cert, port: `:${(server.address() as AddressInfo).port}`, close };
}
