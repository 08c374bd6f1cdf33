import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** A Podman of the test's own: its socket, storage and settings are in one folder, which goes with it. */
export interface TestEngine {
  readonly socket: string;
  readonly image: string;
  readonly folder: string;
  /** The names of all its containers, running or not. */
  containers(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** What is missing for one on this machine; undefined: nothing. */
function missingForEngine(): string | undefined {
  if (process.platform !== "linux") return "Linux";
  if (process.getuid?.() !== 0) return "root (an engine of the test's own is started as root)";
  const programs = ["podman", "runc", "conmon", "dpkg", "tar", "unshare"].filter((name) => !isInstalled(name));
  return programs.length === 0 ? undefined : `${programs.join(", ")} (scripts/setup.sh --for-tests installs them)`;
}

/** What an engine mounts for its storage is seen by nobody else, and goes with its last process. */
const apart = ["--mount", "--propagation", "private"];

/** An engine, or, where there can be none, nothing but a loud word about what was not tried. */
export async function engineFor(what: string): Promise<TestEngine | undefined> {
  const missing = missingForEngine();
  if (missing === undefined) return startEngine();
  process.stderr.write(`\nSKIPPED: ${what} was not tried. Missing: ${missing}\n\n`);
  return undefined;
}

/** Started without reading the machine's own settings. Ends with `stop`, by its process. */
async function startEngine(): Promise<TestEngine> {
  // Overlays cannot lie on each other, which a temporary file system may be.
  const folder = mkdtempSync("/var/tmp/corral-podman-");
  const variables = writeSettings(folder);
  const socket = join(folder, "podman.sock");
  const service = spawn("unshare", [...apart, "podman", "system", "service", "--time=0", `unix://${socket}`], {
    env: variables,
    // What watches a container writes down in its own place that memory ran out.
    cwd: folder,
    stdio: ["ignore", "ignore", createLog(folder)],
  });
  const ended = once(service, "exit");
  const stop = async () => {
    // Of a test that failed in the middle; without its engine nobody could end them.
    for (const name of await containersAt(socket).catch(() => [])) await remove(socket, name);
    service.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const image = await importImage(folder, variables);
    const deadline = performance.now() + 30_000;
    while (!(await answers(socket))) {
      if (service.exitCode !== null || performance.now() > deadline)
        throw new Error(`podman does not serve: ${readFileSync(join(folder, "log"), "utf8")}`);
      await sleep(20);
    }
    return { socket, image, folder, containers: () => containersAt(socket), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function writeSettings(folder: string): Record<string, string> {
  const [containers, storage] = [join(folder, "containers.conf"), join(folder, "storage.conf")];
  writeFileSync(
    containers,
    `[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
tmp_dir = "${folder}/libpod"
`,
  );
  const roots = `runroot = "${folder}/run"\ngraphroot = "${folder}/graph"\n`;
  writeFileSync(storage, `[storage]\ndriver = "overlay"\n${roots}`);
  return {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: folder,
    CONTAINERS_CONF: containers,
    CONTAINERS_STORAGE_CONF: storage,
  };
}

/** Just what the suite's commands need, as this machine's own packages brought it. */
const packages = [
  ...[
    "dash",
    "coreutils",
    "grep",
    "sed",
    "findutils",
    "util-linux",
    "util-linux-extra",
    "procps",
    "perl-base",
    "ripgrep",
  ],
  ...["libc6", "libc-bin", "libpcre2-8-0", "libselinux1", "libgmp10", "libacl1", "libattr1", "zlib1g", "libgcc-s1"],
  ...[
    "libcrypt1",
    "libsmartcols1",
    "libblkid1",
    "libmount1",
    "libcap-ng0",
    "libtinfo6",
    "libsystemd0",
    "libudev1",
    "libuuid1",
  ],
  // The library of events has one name or the other.
  ...["tmux", "libevent-core-2.1-7", "libevent-core-2.1-7t64", "libutempter0", "ncurses-base"],
];

const listScript = `
for link in bin sbin lib lib64; do [ ! -L "/$link" ] || echo "$link"; done
for package; do dpkg -L "$package" 2>/dev/null; done |
  grep -E '^/(usr/)?(bin|sbin|lib|lib64)/' | grep -Ev '/gconv/|/systemd/' | while read -r file; do
    [ -L "$file" ] || [ -f "$file" ] || continue
    folder=$(cd -P "\${file%/*}" && pwd)
    echo "\${folder#/}/\${file##*/}"
  done | sort -u
`;

async function importImage(folder: string, env: Record<string, string>): Promise<string> {
  const [list, tar] = [join(folder, "list"), join(folder, "image.tar")];
  writeFileSync(list, execFileSync("sh", ["-c", listScript, "sh", ...packages], { maxBuffer: 2 ** 24 }));
  const packing = spawn("tar", ["-C", "/", "--no-recursion", "-T", list, "-cf", "-"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await pipeline(packing.stdout, createWriteStream(tar));
  const image = "localhost/corral-test:1";
  execFileSync("unshare", [...apart, "podman", "import", "--quiet", tar, image], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  rmSync(tar);
  return image;
}

async function answers(socket: string): Promise<boolean> {
  const answer = await ask(socket, "/_ping").catch(() => undefined);
  return answer?.status === 200;
}

async function containersAt(socket: string): Promise<readonly string[]> {
  const { text } = await ask(socket, "/containers/json?all=true");
  return (JSON.parse(text) as { Names: string[] }[]).flatMap(({ Names }) => Names);
}

async function remove(socket: string, name: string): Promise<void> {
  await ask(socket, `/containers${encodeURI(name)}?force=true&v=true`, "DELETE");
}

async function ask(
  socketPath: string,
  path: string,
  method = "GET",
): Promise<{ status: number | undefined; text: string }> {
  const asked = request({ socketPath, path, method, agent: false }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, text };
}

function createLog(folder: string): number {
  return openSync(join(folder, "log"), "w");
}

function isInstalled(name: string): boolean {
  return ["/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin"].some((place) => existsSync(`${place}/${name}`));
}
