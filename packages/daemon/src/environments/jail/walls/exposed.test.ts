import { CorralError } from "@corral/protocol";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EnvironmentPlan } from "../../port.ts";
import { TestPlace } from "../testing/place.ts";

const owner = { uid: 1234, gid: 1234 };
let place: TestPlace;
/** Lets everybody in. */
let open: string;
let adversary: ChildProcess | undefined;

beforeEach(() => {
  place = new TestPlace();
  open = mkdtempSync(join(tmpdir(), "corral-exposed-"));
  chmodSync(open, 0o755);
});
afterEach(async () => {
  adversary?.kill("SIGKILL");
  adversary = undefined;
  await place.remove();
  rmSync(open, { recursive: true });
});

describe.skipIf(process.getuid?.() !== 0 || !existsSync("/usr/bin/perl"))(
  "a workspace in which others than root can put links (needs root and perl)",
  () => {
    test("has root make nothing where a link leads, and run nothing of the owner's", async () => {
      const made = join(open, "made");
      const workspace = await beset(made);
      const opened = { yes: 0, no: 0 };
      for (let n = 0; n < 12; n++) opened[await tryOpen(workspace)] += 1;
      expect(outcomes(made)).toEqual({ made: [], ran: [] });
      expect(opened.no).toBeGreaterThan(0);
      expect(readdirSync(join(place.home, "environments")).filter((name) => name.startsWith("env_"))).toEqual([]);
      // Bubblewrap alone does both, as root, unless it follows no links at all.
      const by = followsLinks() ? [0] : [];
      const isDone = () => Object.values(outcomes(made)).every(({ length }) => length > 0);
      for (let n = 0; n < (by.length > 0 ? 1000 : 50) && !isDone(); n++) mountByPath(workspace);
      expect(outcomes(made)).toEqual({ made: by, ran: by });
    });

    test("is one that another jail is open on, or on a folder above it", async () => {
      const below = join(place.workspace, "below");
      mkdirSync(below);
      place.give(place.workspace);
      const other = await place.open();
      expect(await mountedInWorkspace({})).toContain("/workspace/.bashrc");
      // What was not there when the other was opened can be replaced there.
      expect(await other.run("echo {} | tee crush.json >below/.mcp.json")).toMatchObject({ exitCode: 0 });
      expect(await mountedInWorkspace({})).toEqual([]);
      expect(await mountedInWorkspace({ workspace: below })).toEqual([]);
      expect(await succeeding(["echo x >crush.json", renames("crush.json")], {})).toEqual([]);
      expect(await succeeding(["echo x >.mcp.json", renames(".mcp.json")], { workspace: below })).toEqual([]);
    });

    test("is mounted in by no bubblewrap of root's, unless it is shut away", async () => {
      const workspace = newWorkspace();
      for (const folder of [workspace, place.workspace]) writeFileSync(join(folder, ".mcp.json"), "{}");
      expect(await mountedInWorkspace({ workspace })).toEqual([]);
      expect(await mountedInWorkspace({})).toContain("/workspace/.mcp.json");
      chmodSync(place.home, 0o711);
      expect(await mountedInWorkspace({})).toEqual([]);
    });

    test("is shielded as any other once it is at rest", async () => {
      const workspace = newWorkspace();
      spawnSync("git", ["init", "-q", workspace]);
      mkdirSync(join(workspace, ".claude"));
      for (const path of [join(workspace, ".claude/settings.json"), join(workspace, ".mcp.json")])
        spawnSync("touch", [path]);
      spawnSync("chown", ["-R", `${owner.uid}:${owner.gid}`, workspace]);
      const tries = ["echo x >.mcp.json", "mv .mcp.json x", "echo x >.claude/x", "mv .git x", "echo x >.git/config"];
      expect(await succeeding(tries, { workspace })).toEqual([]);
    });

    test("is so, too, when it is a copy of Corral's own, with what is missing in it", async () => {
      chmodSync(place.home, 0o711);
      spawnSync("git", ["init", "-q", place.workspace]);
      place.give(place.workspace);
      const before = readdirSync(place.workspace, { recursive: true });
      const git = ["config", "commondir", "hooks/x", "info/attributes", "objects/info/alternates"];
      const writes = [".bashrc", ".bashrc/x", ".mcp.json", ...git.map((name) => `.git/${name}`)];
      const moves = [".git", ".git/objects", ".git/objects/info", ".git/hooks", ".vscode"];
      const tries = [...writes.map((path) => `echo x >${path}`), ...moves.map(renames)];
      expect(await succeeding(tries, {})).toEqual([]);
      expect(readdirSync(place.workspace, { recursive: true })).toEqual(before);
    });
  },
);

function newWorkspace(): string {
  const owners = join(open, "owners");
  const workspace = join(owners, "workspace");
  for (const folder of [owners, workspace]) {
    mkdirSync(folder);
    chownSync(folder, owner.uid, owner.gid);
  }
  return workspace;
}

/** What `mv` does first; it goes on to copy. */
function renames(path: string): string {
  return `perl -e "rename q(${path}), q(away) or exit 1"`;
}

async function succeeding(tries: readonly string[], plan: Partial<EnvironmentPlan>): Promise<string[]> {
  const { environment, run } = await place.open(plan);
  const all = tries.map((text) => `(${text}) 2>/dev/null && echo '${text}'`).join("\n");
  // What is not shielded can be written.
  const { stdout } = await run(`${all}\necho mine >file && rm file && echo done`);
  await environment.end();
  expect(stdout).toMatch(/done\n$/);
  return stdout.split("\n").slice(0, -2);
}

/** A workspace with its owner at work in it. */
async function beset(made: string): Promise<string> {
  const workspace = newWorkspace();
  adversary = spawn("/usr/bin/perl", ["-e", swaps, made], {
    cwd: workspace,
    stdio: ["ignore", "pipe", "inherit"],
    ...owner,
  });
  await once(adversary.stdout!, "data");
  return workspace;
}

/**
 * Two folders change places: one with files, the other with links in their place, as seen while bubblewrap builds: to the machine, and to the
 * program that is run first in the jail to be.
 */
const swaps = String.raw`
chdir ".."; mkdir "other";
for my $name (".envrc", ".mcp.json") {
  open(F, ">", "workspace/$name"); print F "#!/bin/sh\n: >/workspace/ran\n"; close F; chmod 0755, "workspace/$name";
}
symlink "/oldroot$ARGV[0]", "other/.mcp.json";
symlink "/newroot/usr/bin/setpriv", "other/.envrc";
$| = 1; print "begun\n";
while (getppid() != 1) {
  rename "workspace", "x"; rename "other", "workspace"; rename "x", "other";
  select undef, undef, undef, 0.0003;
}`;

/** Who made the file where the link led, and who ran the program. */
function outcomes(made: string): { made: number[]; ran: number[] } {
  const owners = (paths: string[]) => paths.flatMap((path) => lstatSync(path, { throwIfNoEntry: false })?.uid ?? []);
  return { made: owners([made]), ran: owners(["workspace", "other"].map((name) => join(open, "owners", name, "ran"))) };
}

/** Whether this machine's bubblewrap makes what a link leads to, out of the jail that it builds, as those before 0.12 do (CVE-2026-87766). */
function followsLinks(): boolean {
  const folder = mkdtempSync(join(open, "links-"));
  const made = join(open, "made-by-link");
  symlinkSync(`/oldroot${made}`, join(folder, "link"));
  spawnSync("bwrap", [
    "--ro-bind",
    "/usr",
    "/usr",
    "--bind",
    folder,
    "/at",
    "--ro-bind",
    "/etc/passwd",
    "/at/link",
    "true",
  ]);
  return existsSync(made);
}

/** Where the bubblewrap that builds a jail is told to mount something in the workspace. */
async function mountedInWorkspace(plan: Partial<EnvironmentPlan>): Promise<string[]> {
  const [bubblewrap, told] = ["bwrap", "told"].map((name) => join(open, name)) as [string, string];
  const script = `#!/bin/sh\ncat <&3 >${told}\nexec bwrap "$@" 3<${told}\n`;
  writeFileSync(bubblewrap, script, { mode: 0o755 });
  const { environment } = await place.open(plan, { bubblewrap });
  await environment.end();
  return readFileSync(told, "utf8")
    .split("\0")
    .filter((word) => word.startsWith("/workspace/"));
}

async function tryOpen(workspace: string): Promise<"yes" | "no"> {
  try {
    const { environment } = await place.open({ workspace });
    await environment.end();
    return "yes";
  } catch (error) {
    if (!(error instanceof CorralError)) throw error;
    return "no";
  }
}

function mountByPath(workspace: string): void {
  const files = [".envrc", ".mcp.json"].flatMap((name) => ["--ro-bind", join(workspace, name), `/workspace/${name}`]);
  const world = ["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib"];
  const jail = ["--symlink", "usr/lib64", "/lib64", "--bind", workspace, "/workspace", ...files];
  spawnSync("bwrap", [...world, ...jail, "/usr/bin/setpriv", "--reuid=1234", "true"]);
}
