import { once } from "node:events";
import { spawn } from "node:child_process";
import { lstatSync, readFileSync, readlinkSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Checkout, installs } from "./checkout.ts";

const npmCi = (checkout: Checkout): string =>
  [
    "npm ci --loglevel=error --no-update-notifier --include=dev --include=optional --no-engine-strict",
    "--prefer-offline --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000",
    `--logs-dir=${checkout.root}/.corral-setup.logs`,
  ].join(" ");
const installing =
  "corral: installing dependencies with npm ci (about half a minute, once for each version)\nadded 1 package\n";
const aptGet = (command: string): string => `apt-get -y -q -o DPkg::Lock::Timeout=120 ${command}`;

describe("dependencies", () => {
  test("a fresh checkout is set up with npm ci, which leaves nothing but node_modules behind", async () => {
    using checkout = new Checkout();
    expect(await checkout.setUp().result).toEqual({ code: 0, stdout: "", stderr: installing });
    expect(checkout.calls).toEqual([npmCi(checkout)]);
    expect(leftovers(checkout)).toEqual([]);
  });

  test("a checkout that is set up starts no npm and says nothing", async () => {
    using checkout = await setUpCheckout();
    expect(await checkout.setUp().result).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(checkout.calls).toEqual([npmCi(checkout)]);
  });

  test("a lock file with another time and the same content is not installed again, and gets a stamp of its time", async () => {
    using checkout = await setUpCheckout();
    setTime(checkout, "package-lock.json", "2031-02-03");
    expect(await checkout.setUp().result).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(checkout.calls).toEqual([npmCi(checkout)]);
    expect(statSync(join(checkout.root, "node_modules/.corral-setup")).mtime).toEqual(new Date("2031-02-03"));
  });

  test.each(["1999-01-01", "2031-02-03"])("another lock file, of %s, is installed", async (time) => {
    using checkout = await setUpCheckout();
    checkout.write("package-lock.json", "{ }");
    setTime(checkout, "package-lock.json", time);
    expect(await checkout.setUp().result).toEqual({ code: 0, stdout: "", stderr: installing });
    expect(checkout.calls).toEqual([npmCi(checkout), npmCi(checkout)]);
  });

  test("what an npm around set-up was told about workspaces does not reach npm ci", async () => {
    using checkout = new Checkout();
    checkout.program("npm", `${installs}\necho "workspace: \${npm_config_workspace-none}"`);
    const { stderr } = await checkout.setUp({ npm_config_workspace: "packages/cli" }).result;
    expect(stderr).toBe(`${installing}workspace: none\n`);
  });

  test("without npm, set-up says what to install", async () => {
    using checkout = new Checkout();
    checkout.remove("npm");
    expect(await checkout.setUp().result).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "corral: npm is missing. Install Node.js 20 or newer together with npm; from there on Corral brings its own Node.\n",
    });
  });

  test.each([
    [
      "ENOTFOUND",
      "npm cannot reach its registry. Connect to the network, or set a registry or proxy in your ~/.npmrc.",
    ],
    [
      "EUSAGE",
      "package.json and package-lock.json disagree. Restore them with git, or bring them in step with npm install.",
    ],
    ["ENOSPC", "The disk is full. Corral's dependencies need about half a gigabyte."],
    ["EWHATEVER", "npm ci failed; its own message is above."],
  ])("a failure of npm (%s) ends set-up with npm's message and what to do", async (code, advice) => {
    using checkout = new Checkout();
    checkout.program("npm", fails(checkout, code));
    const { stderr, ...rest } = await checkout.setUp().result;
    expect(rest).toEqual({ code: 1, stdout: "" });
    expect(stderr.split("\n").slice(1)).toEqual([
      "npm error real cause",
      `corral: ${advice} Then run this again: it starts over cleanly.`,
      "",
    ]);
  });

  test("after a failure the next set-up installs", async () => {
    using checkout = new Checkout();
    checkout.program("npm", fails(checkout, "ENOTFOUND"));
    await checkout.setUp().result;
    checkout.program("npm", installs);
    expect(await checkout.setUp().result).toEqual({ code: 0, stdout: "", stderr: installing });
    expect(leftovers(checkout)).toEqual([]);
  });

  test("an npm that brings Node without a link to it is helped out", async () => {
    using checkout = new Checkout();
    const elsewhere =
      "mkdir -p node_modules/node-other/bin; echo exit 1 >node_modules/node-other/bin/node; chmod +x node_modules/node-other/bin/node";
    checkout.program(
      "npm",
      `${installs}; mkdir -p node_modules/node-this/bin; mv node_modules/.bin/node node_modules/node-this/bin/; ${elsewhere}`,
    );
    expect(await checkout.setUp().result).toEqual({ code: 0, stdout: "", stderr: installing });
    expect(readlinkSync(join(checkout.root, "node_modules/.bin/node"))).toBe("../node-this/bin/node");
  });

  test("a Node that does not run here ends set-up and is not taken for set up", async () => {
    using checkout = new Checkout();
    checkout.program(
      "npm",
      "mkdir -p node_modules/.bin; echo exit 1 >node_modules/.bin/node; chmod +x node_modules/.bin/node",
    );
    const { code, stderr } = await checkout.setUp().result;
    expect(code).toBe(1);
    expect(stderr).toContain("npm brought no Node that runs on this machine");
    expect(checkout.exists("node_modules/.corral-setup")).toBe(false);
  });
});

describe("several set-ups", () => {
  test("of two at once one installs, and the other says for whom it waits", async () => {
    using checkout = new Checkout();
    const { started, gate } = heldNpm(checkout);
    const first = checkout.setUp();
    await started.reached();
    const second = checkout.setUp();
    await second.saying(`waiting for the set-up that process ${first.pid} is doing`);
    await gate.open();
    expect(await first.result).toEqual({ code: 0, stdout: "", stderr: installing });
    expect(await second.result).toEqual({
      code: 0,
      stdout: "",
      stderr: `corral: waiting for the set-up that process ${first.pid} is doing\n`,
    });
    expect(checkout.calls).toEqual([npmCi(checkout)]);
  });

  test("of many that find a dead one's claim exactly one installs", async () => {
    using checkout = new Checkout();
    symlinkSync(await endedIdentity(), join(checkout.root, ".corral-setup.lock"));
    const runs = Array.from({ length: 8 }, () => checkout.setUp());
    const results = await Promise.all(runs.map((run) => run.result));
    expect(results.map((result) => result.code)).toEqual(runs.map(() => 0));
    expect(checkout.calls).toEqual([npmCi(checkout)]);
    expect(leftovers(checkout)).toEqual([]);
  });

  test("one that was killed is done again, after the npm that it left behind has ended", async () => {
    using checkout = new Checkout();
    const { started, gate } = heldNpm(checkout);
    const killed = checkout.setUp();
    await started.reached();
    const orphan = npmPid(checkout);
    killed.kill();
    expect(await killed.ended).toBe(null);
    checkout.program("npm", installs);
    const again = checkout.setUp();
    await again.saying(`waiting for the set-up that process ${orphan} is doing`);
    await gate.open();
    const { code } = await again.result;
    expect(code).toBe(0);
    expect(checkout.calls).toEqual([npmCi(checkout), npmCi(checkout)]);
    expect(leftovers(checkout)).toEqual([]);
  });

  test.runIf(process.platform === "linux")(
    "a claim of a process number that now belongs to a stranger is not waited for",
    async () => {
      using checkout = new Checkout();
      symlinkSync(`${process.pid}.1`, join(checkout.root, ".corral-setup.lock"));
      expect(await checkout.setUp().result).toEqual({ code: 0, stdout: "", stderr: installing });
    },
  );
});

describe("the system's programs", () => {
  test("what is missing is installed by root with apt-get, asking nothing and fetching no lists", async () => {
    using checkout = await setUpCheckout();
    checkout.remove("bwrap");
    checkout.remove("rg");
    checkout.program("apt-get", `${aptInstalls}\necho "\${DEBIAN_FRONTEND-}" >"$0.frontend"; cat >"$0.input"`);
    expect(await checkout.setUp().result).toEqual({
      code: 0,
      stdout: "",
      stderr: "corral: installing with apt-get: bubblewrap ripgrep\n",
    });
    expect(checkout.calls.slice(1)).toEqual([aptGet("install --no-install-recommends bubblewrap ripgrep")]);
    expect(readFileSync(join(checkout.root, "bin/apt-get.frontend"), "utf8")).toBe("noninteractive\n");
    expect(readFileSync(join(checkout.root, "bin/apt-get.input"), "utf8")).toBe("");
  });

  test("package lists are fetched when installing fails without them", async () => {
    using checkout = await setUpCheckout();
    checkout.remove("tmux");
    checkout.program(
      "apt-get",
      `case $* in *update) : >"$0.lists" ;; *) [ -e "$0.lists" ] || exit 100; ${aptInstalls} ;; esac`,
    );
    expect(await checkout.setUp().result).toEqual({
      code: 0,
      stdout: "",
      stderr: "corral: installing with apt-get: tmux\n",
    });
    const install = aptGet("install --no-install-recommends tmux");
    expect(checkout.calls.slice(1)).toEqual([install, aptGet("update"), install]);
  });

  test("a package that the system does not know keeps no other away", async () => {
    using checkout = await setUpCheckout();
    checkout.remove("rg");
    checkout.remove("tmux");
    checkout.program("apt-get", `case $* in *ripgrep*) echo "E: no ripgrep" >&2; exit 100 ;; esac; ${aptInstalls}`);
    expect(await checkout.setUp().result).toEqual({
      code: 0,
      stdout: "",
      stderr: [
        "corral: installing with apt-get: ripgrep tmux",
        "E: no ripgrep",
        "corral: not installed: ripgrep (for search). To install: sudo apt-get install -y ripgrep",
        "",
      ].join("\n"),
    });
  });

  test("without root and sudo they are named and set-up goes on", async () => {
    using checkout = new Checkout();
    checkout.program("id", "echo 1234");
    checkout.program("apt-get", "exit 1");
    checkout.remove("bwrap");
    checkout.remove("tmux");
    const { stderr, ...rest } = await checkout.setUp().result;
    expect(rest).toEqual({ code: 0, stdout: "" });
    expect(stderr).toBe(
      `${installing}corral: not installed: bubblewrap (for jails), tmux (for terminals). To install: sudo apt-get install -y bubblewrap tmux\n`,
    );
    expect(checkout.calls).toEqual([npmCi(checkout)]);
    expect(checkout.exists("node_modules/.corral-setup")).toBe(true);
  });

  test.runIf(process.platform === "linux")("what only tests need is installed only for them", async () => {
    using checkout = await setUpCheckout();
    checkout.program("apt-get", aptInstalls);
    checkout.remove("strace");
    checkout.remove("chromium");
    expect(await checkout.setUp().result).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await checkout.setUp({}, "--for-tests").result).toEqual({
      code: 0,
      stdout: "",
      stderr: "corral: installing with apt-get: strace chromium podman runc\n",
    });
    expect(checkout.calls.slice(1)).toEqual([aptGet("install --no-install-recommends strace chromium podman runc")]);
    expect(await checkout.setUp({}, "--for-tests").result).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test.runIf(process.platform === "linux")("a container engine for tests is asked for as root alone", async () => {
    using checkout = await setUpCheckout();
    checkout.program("apt-get", `case $* in *podman* | *runc*) echo "E: none" >&2; exit 100 ;; esac; ${aptInstalls}`);
    expect(await checkout.setUp({}, "--for-tests").result).toEqual({
      code: 0,
      stdout: "",
      stderr: [
        "corral: installing with apt-get: podman runc",
        "E: none",
        "corral: not installed: podman (for containers), runc (for containers). To install: sudo apt-get install -y podman runc",
        "",
      ].join("\n"),
    });
    checkout.program("id", "echo 1234");
    expect(await checkout.setUp({}, "--for-tests").result).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("a sudo that would ask for a password is not used", async () => {
    using checkout = await setUpCheckout();
    checkout.program("id", "echo 1234");
    checkout.program("sudo", "exit 1");
    checkout.program("apt-get", "exit 1");
    checkout.remove("git");
    const { stderr } = await checkout.setUp().result;
    expect(stderr).toBe("corral: not installed: git (for workspaces). To install: sudo apt-get install -y git\n");
    expect(checkout.calls.slice(1)).toEqual(["sudo -n true"]);
  });

  test("a sudo that asks for none installs", async () => {
    using checkout = await setUpCheckout();
    checkout.program("id", "echo 1234");
    checkout.program("sudo", 'shift; exec "$@"');
    checkout.program("apt-get", aptInstalls);
    checkout.remove("git");
    expect(await checkout.setUp().result).toEqual({
      code: 0,
      stdout: "",
      stderr: "corral: installing with apt-get: git\n",
    });
    const install = aptGet("install --no-install-recommends git");
    expect(checkout.calls.slice(1)).toEqual([
      "sudo -n true",
      `sudo -n env DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a ${install}`,
      install,
    ]);
  });

  test("CORRAL_NO_SYSTEM_PACKAGES=1 names what is missing and installs nothing", async () => {
    using checkout = await setUpCheckout();
    checkout.program("apt-get", aptInstalls);
    checkout.remove("git");
    expect(await checkout.setUp({ CORRAL_NO_SYSTEM_PACKAGES: "1" }).result).toEqual({
      code: 0,
      stdout: "",
      stderr: "corral: not installed: git (for workspaces). To install: sudo apt-get install -y git\n",
    });
    expect(checkout.calls).toHaveLength(1);
  });

  test.each([
    ["dnf", "sudo dnf install -y git"],
    ["pacman", "sudo pacman -S --needed git"],
    ["brew", "brew install git"],
    ["nothing known", "your system's package manager, packages git"],
  ])("on a machine with %s the command is: %s", async (manager, command) => {
    using checkout = await setUpCheckout();
    checkout.program(manager, "exit 1");
    checkout.remove("git");
    const { stderr } = await checkout.setUp().result;
    expect(stderr).toBe(`corral: not installed: git (for workspaces). To install: ${command}\n`);
  });
});

describe("./corral", () => {
  test("sets up a fresh checkout and prints only what the CLI prints on stdout", async () => {
    using checkout = new Checkout();
    expect(await checkout.corral(["serve", "two words", ""]).result).toEqual({
      code: 0,
      stdout: '["serve","two words",""]\n',
      stderr: installing,
    });
  });

  test("starts no program but the CLI when set-up is done", async () => {
    using checkout = await setUpCheckout();
    expect(await checkout.corral(["x"], { PATH: "/nowhere" }).result).toEqual({
      code: 0,
      stdout: '["x"]\n',
      stderr: "",
    });
  });

  test("finds its checkout through links", async () => {
    using checkout = await setUpCheckout();
    symlinkSync("corral", join(checkout.root, "first"));
    symlinkSync(join(checkout.root, "first"), join(checkout.root, "bin/second"));
    expect(await checkout.corral(["x"], {}, "bin/second").result).toEqual({ code: 0, stdout: '["x"]\n', stderr: "" });
  });

  test("does not start the CLI when set-up fails", async () => {
    using checkout = new Checkout();
    checkout.program("npm", "exit 7");
    const { code, stdout } = await checkout.corral([]).result;
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  });

  test("gives Node a compile cache below node_modules, unless there is one", async () => {
    using checkout = await setUpCheckout();
    checkout.write("packages/cli/src/main.ts", "console.log(process.env.NODE_COMPILE_CACHE);");
    const cache = join(checkout.root, "node_modules/.cache/corral");
    expect(await checkout.corral([]).result).toEqual({ code: 0, stdout: `${cache}\n`, stderr: "" });
    const own = join(checkout.root, "own");
    expect(await checkout.corral([], { NODE_COMPILE_CACHE: own }).result).toEqual({
      code: 0,
      stdout: `${own}\n`,
      stderr: "",
    });
  });
});

async function setUpCheckout(): Promise<Checkout> {
  const checkout = new Checkout();
  await checkout.setUp().result;
  return checkout;
}

function setTime(checkout: Checkout, path: string, time: string): void {
  utimesSync(join(checkout.root, path), new Date(time), new Date(time));
}

/** Claims and logs that set-up should have taken away. */
function leftovers(checkout: Checkout): readonly string[] {
  return [".corral-setup.lock", ".corral-setup.npm", ".corral-setup.logs"].filter((name) => {
    return lstatSync(join(checkout.root, name), { throwIfNoEntry: false }) !== undefined;
  });
}

/** An npm ci that tells when it has begun and ends when it is let. */
function heldNpm(checkout: Checkout) {
  const started = checkout.latch("started");
  const gate = checkout.latch("gate");
  checkout.program("npm", `echo >"${started.path}"; read _ <"${gate.path}"; ${installs}`);
  return { started, gate };
}

function npmPid(checkout: Checkout): string {
  return readlinkSync(join(checkout.root, ".corral-setup.npm")).split(".")[0] ?? "";
}

function fails(checkout: Checkout, code: string): string {
  const logs = `${checkout.root}/.corral-setup.logs`;
  return `mkdir -p "${logs}"; echo "12 error code ${code}" >"${logs}/debug.log"; echo "npm error real cause" >&2; exit 1`;
}

/** Makes the programs of the packages it is asked for. */
const aptInstalls = `
for package; do
  case $package in bubblewrap) name=bwrap ;; ripgrep) name=rg ;; git | tmux | strace | chromium | podman | runc) name=$package ;; *) continue ;; esac
  printf '#!/bin/sh\\n' >"\${0%/*}/$name"; chmod +x "\${0%/*}/$name"
done`;

/** The claim of a process that has ended. */
async function endedIdentity(): Promise<string> {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  await once(child, "exit");
  return `${child.pid}.1`;
}
