import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { hostname, networkInterfaces, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { quoted } from "../../system/quoting.ts";
import { architectures } from "../seccomp/index.ts";
import { numberOf, type SystemCall } from "../seccomp/syscalls.ts";
import { type OpenJail, runOutside, runUnshielded, TestPlace } from "../testing/place.ts";

/*
 * Each line is an attack: a probe that exits with 0 when it comes through. It must come through where the wall is not,
 * or it would prove nothing, and must not where the wall is.
 */

const isRoot = process.getuid?.() === 0;
const architecture = architectures.find((each) => each === process.arch);
const hasPerl = existsSync("/usr/bin/perl");
const hasCompiler = existsSync("/usr/bin/gcc");
/** The call that no jail refuses. */
const ptrace = architecture === "x64" ? 101 : 117;
if (!hasPerl) console.warn("SKIPPED: without /usr/bin/perl no system call and no socket is tried in a real jail.");
if (!hasCompiler) console.warn("SKIPPED: without /usr/bin/gcc no 32-bit call is tried in a real jail.");

let place: TestPlace;
let jail: OpenJail;
let openNetwork: OpenJail;
const ends: (() => void)[] = [];
const setUserId = makeSetUserId();

beforeAll(async () => {
  place = new TestPlace();
  jail = await place.open();
  openNetwork = await place.open({ network: "open" });
});
afterAll(async () => {
  for (const end of ends) end();
  await place.remove();
});

describe("files of the machine", () => {
  const secrets = [
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".config/gcloud/credentials.db",
    ".netrc",
    ".npmrc",
    ".docker/config.json",
  ];
  test.each(secrets)("%s of a home is not there", async (name) => {
    const path = join(place.home, "person", name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, "secret");
    await cannot(`cat ${path}`);
  });

  test("the token, the log and another agent's home and workspace are not there", async () => {
    const other = await place.open({ workspace: newWorkspace("others") });
    await other.run("echo secret >~/mine && echo secret >mine");
    writeFileSync(join(place.home, "token"), "secret");
    for (const path of [join(place.home, "token"), join(place.home, "others/mine"), join(place.home, "environments")])
      await cannot(`ls ${path}`);
    expect((await other.run("cat ~/mine")).stdout).toBe("secret\n");
    await expectRefused(jail, "cat ~/mine");
  });

  test.skipIf(!isRoot)(
    "a home, a project and Corral's state are not there either where they lie below /usr (needs root, to put them there)",
    async () => {
      const below = mkdtempSync("/usr/local/corral-people-");
      ends.push(() => rmSync(below, { recursive: true, force: true }));
      const [ann, state] = [join(below, "ann"), join(below, "state")];
      for (const folder of [join(ann, "project"), join(ann, "objects"), state]) mkdirSync(folder, { recursive: true });
      for (const path of ["tool", "ann/key", "ann/objects/object", "state/log"]) writeFileSync(join(below, path), path);
      for (const folder of [below, state]) chmodSync(folder, 0o755);
      place.give(ann);
      const secrets = [join(ann, "key"), join(state, "log")];
      const open = { workspace: join(ann, "project"), readable: [join(ann, "objects")] };
      const concealing = await place.open(open, { home: state });
      for (const path of secrets) await expectRefused(concealing, `cat ${path}`);
      await expectRefused(concealing, `echo x >${ann}/x`);
      expect((await concealing.run(`cat ${below}/tool ${ann}/objects/object; ls ${ann} ${state}`)).stdout).toBe(
        `toolann/objects/object${ann}:\nobjects\n\n${state}:\n`,
      );
      expect(await concealing.run("echo mine >file && cat file")).toMatchObject({ stdout: "mine\n", exitCode: 0 });
      // Before its home goes, with all that it would be found by.
      await concealing.environment.end();
      // Of what nobody has said that it is anybody's, a jail sees what its user may read.
      expect((await jail.run(`cat ${secrets.join(" ")}`)).stdout).toBe("ann/keystate/log");
    },
  );

  test("of /etc there is what programs need, and nothing that tells of the machine or its users", async () => {
    const needed = new Set(
      (
        "alternatives ca-certificates ca-certificates.conf corral crypto-policies debian_version gai.conf group host.conf hosts ld.so.cache " +
        "ld.so.conf ld.so.conf.d localtime magic maven mime.types nsswitch.conf os-release passwd pki protocols resolv.conf services ssl terminfo timezone"
      ).split(" "),
    );
    const others = (text: string) =>
      text
        .trim()
        .split("\n")
        .filter((name) => !needed.has(name) && !/^java.*-openjdk$/.test(name));
    expect(others((await jail.run("ls -A /etc")).stdout)).toEqual([]);
    expect(others((await openNetwork.run("ls -A /etc")).stdout)).toEqual([]);
    expect(others(runOutside("ls -A /etc").stdout)).not.toEqual([]);
    expect((await jail.run("cut -d: -f1 /etc/passwd; ls -A /etc/ssl")).stdout).toMatch(
      /^agent\nnobody\n(certs\n)?(openssl.cnf\n)?$/,
    );
  });

  test.skipIf(!existsSync("/usr/bin/java"))("Java runs, which has its settings there (needs java)", async () => {
    expect(await jail.run("java -version 2>&1 && ! cat /etc/maven/settings.xml")).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/version/) as string,
    });
  });

  test("nothing outside is written through a link, a hard link, or a way up", async () => {
    const outside = join(place.home, "outside");
    mkdirSync(outside, { mode: 0o777 });
    chmodSync(outside, 0o777);
    writeFileSync(join(outside, "file"), "theirs");
    chmodSync(join(outside, "file"), 0o666);
    symlinkSync(outside, join(place.workspace, "way"));
    symlinkSync(join(outside, "file"), join(place.workspace, "their-file"));
    for (const text of [
      "echo mine >their-file",
      "echo mine >way/new",
      `ln ${outside}/file hard`,
      "cd way && echo mine >newer",
      `echo mine >${outside}/newest`,
    ]) {
      await expectRefused(jail, text);
    }
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("theirs");
    expect(runOutside("echo mine >their-file && echo mine >way/new", place.workspace).exitCode).toBe(0);
  });

  test("devices, kernel settings and other file systems are out of reach", async () => {
    const tries = [
      "ls /sys/kernel",
      "cat /dev/kmsg </dev/null && head -c 1 /dev/mem",
      "echo 1 >/proc/sys/kernel/printk",
      "ls /dev/sda /dev/vda /dev/kvm /dev/fuse",
      "cat /proc/sysrq-trigger",
      "mknod disk b 8 0",
      "mount -t tmpfs x /tmp",
    ];
    for (const text of tries) await expectRefused(jail, text);
    expect(runOutside("ls /sys/kernel").exitCode).toBe(0);
  });
});

describe("processes of the machine", () => {
  const sleeper = () => {
    const child = spawn("/bin/sleep", ["1000"], { env: { SECRET: "hunter2" }, stdio: "ignore" });
    ends.push(() => child.kill("SIGKILL"));
    return child;
  };

  test("are not seen, read, signalled nor traced", async () => {
    const { pid } = sleeper();
    await cannot(`grep -q hunter2 /proc/${pid}/environ`);
    await cannot(`grep -aq 1000 /proc/${pid}/cmdline`);
    await cannot(`kill -0 ${pid}`);
    // Where the kernel keeps an ordinary user from tracing others, it does that outside, too.
    if (hasPerl && architecture !== undefined && (isRoot || !existsSync("/proc/sys/kernel/yama/ptrace_scope"))) {
      const seize = 0x4206;
      await cannot(perl(`exit(syscall(${ptrace}, ${seize}, ${pid}, 0, 0) == 0 ? 0 : 1)`));
    }
  });

  test("share no memory with it, and it does not learn the machine's name", async () => {
    const made = execFileSync("ipcmk", ["-p", "0666", "-M", "4096"], { encoding: "utf8" });
    const id = /(\d+)\s*$/.exec(made)?.[1] ?? "";
    ends.push(() => execFileSync("ipcrm", ["-m", id]));
    await cannot(`grep -Eq '^ *-?[0-9]+ +${id} ' /proc/sysvipc/shm`, [jail, openNetwork]);
    await cannot(`[ "$(cat /proc/sys/kernel/hostname)" = ${quoted(hostname())} ]`, [jail, openNetwork]);
  });

  test("live on when a command signals everybody", async () => {
    const child = sleeper();
    const other = await place.open();
    expect(await other.run("sleep 1000 & kill -KILL -1; wait; echo alone")).toMatchObject({ stdout: "alone\n" });
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    expect(runOutside(`kill -KILL ${child.pid}`).exitCode).toBe(0);
  });
});

describe.skipIf(!hasPerl)("sockets of the machine (need perl)", () => {
  test("a unix socket in a folder, as of docker, ssh-agent and D-Bus, is not there", async () => {
    const folder = mkdtempSync(join(tmpdir(), "corral-sockets-"));
    const path = join(folder, "docker.sock");
    const server = createServer((socket) => socket.on("error", () => undefined).end("reached")).listen(path);
    ends.push(() => (server.close(), rmSync(folder, { recursive: true, force: true })));
    await once(server, "listening");
    chmodSync(path, 0o777);
    await cannot(perl(`socket(S,1,1,0) && connect(S, pack("Sa*", 1, "${path}\\0")) or exit 1`), [jail, openNetwork]);
    for (const known of ["/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/user", "$SSH_AUTH_SOCK"])
      await expectRefused(jail, `ls "${known}"`);
  });

  test("an abstract socket is out of reach, with the machine's network too", async () => {
    const name = `corral-test-${process.pid}`;
    const server = createServer((socket) => socket.on("error", () => undefined).end("reached")).listen({
      path: `\0${name}`,
    });
    ends.push(() => void server.close());
    await once(server, "listening");
    await cannot(perl(`socket(S,1,1,0) && connect(S, pack("Sxa*", 1, "${name}")) or exit 1`), [jail, openNetwork]);
  });

  test("loopback, the gateway's port included, and other addresses are out of reach, and within reach where the network is open", async () => {
    const server = createServer((socket) => socket.on("error", () => undefined).end("reached")).listen(0, "0.0.0.0");
    ends.push(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const others = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter(({ family, internal }) => family === "IPv4" && !internal);
    if (others.length === 0) console.warn("SKIPPED: the machine has no address but loopback.");
    for (const address of ["127.0.0.1", ...others.slice(0, 1).map(({ address }) => address)]) {
      const probe = perl(
        `use Socket; socket(S,2,1,0) && connect(S, pack_sockaddr_in(${port}, inet_aton("${address}"))) or exit 1`,
      );
      await cannot(probe);
      expect((await openNetwork.run(probe)).exitCode).toBe(0);
    }
  });

  test("a name server on the machine gets no question", async () => {
    const server = createSocket("udp4", (_, from) => server.send("answer", from.port, from.address)).bind(
      0,
      "127.0.0.1",
    );
    ends.push(() => void server.close());
    await once(server, "listening");
    const probe = perl(
      `use Socket; socket(S,2,2,0); alarm 5; send(S, "question", 0, pack_sockaddr_in(${server.address().port}, inet_aton("127.0.0.1"))) or exit 1; recv(S, my $a, 99, 0); exit($a eq "answer" ? 0 : 1)`,
    );
    await cannot(probe);
  });

  test("raw packets cannot be made", async () => {
    for (const each of [jail, openNetwork]) {
      await expectRefused(each, perl("socket(S,2,3,1) or exit 1"));
      await expectRefused(each, perl("socket(S,17,3,768) or exit 1"));
    }
    // An ordinary user may make them in a network of their own, which no jail lets anybody have.
    const outside = `${isRoot ? "" : "unshare --map-root-user --net "}${perl("socket(S,2,3,1) or exit 1")}`;
    expect(runOutside(outside).exitCode).toBe(0);
  });
});

test("where the network is open, the machine's names are known, and its network is still not the jail's to change", async () => {
  expect((await openNetwork.run("cat /etc/resolv.conf")).stdout).toBe(readFileSync("/etc/resolv.conf", "utf8"));
  expect((await openNetwork.run("grep ^hosts /etc/nsswitch.conf; cat /etc/hosts")).stdout).toBe(
    `hosts: files dns\n${readFileSync("/etc/hosts", "utf8")}`,
  );
  expect((await jail.run("cat /etc/resolv.conf; grep ^hosts /etc/nsswitch.conf")).stdout).toBe("hosts: files\n");
  await expectRefused(openNetwork, "echo x >>/etc/resolv.conf");
  expect(existsSync("/etc/ssl/certs") ? (await openNetwork.run("ls /etc/ssl/certs")).exitCode : 0).toBe(0);
});

describe.skipIf(!hasPerl || architecture === undefined)("system calls (need perl)", () => {
  const newUser = 0x1000_0000;
  /** Answers are error numbers, or 0. Outside: what the same call gives with namespaces and without seccomp. */
  const calls: [string, SystemCall, string, { inside: number; outside: number | RegExp }][] = [
    ["a user namespace by unshare", "unshare", `${newUser}`, { inside: 1, outside: 0 }],
    ["a user namespace by clone", "clone", `${newUser | 17}, 0, 0, 0, 0`, { inside: 1, outside: 0 }],
    ["a process by clone3, whose flags cannot be seen", "clone3", "0, 0", { inside: 38, outside: 22 }],
    ["the kernel's keyrings", "keyctl", "0, -3, 1", { inside: 1, outside: 0 }],
    ["faults handled by the program", "userfaultfd", "1", { inside: 1, outside: 0 }],
    ["memory that is executable because it is readable", "personality", "0x400000", { inside: 1, outside: 0 }],
    ["io_uring", "io_uring_setup", "1, 0", { inside: 1, outside: /^(14|38)$/ }],
    ["socket families nobody needs", "socket", "38, 5, 0", { inside: 97, outside: /^(0|97)$/ }],
    ["netlink beyond routes", "socket", "16, 3, 15", { inside: 93, outside: 0 }],
    ["the new way to mount", "open_tree", `-100, $root, 0`, { inside: 1, outside: 0 }],
    ["a namespace of another process", "setns", "-1, 0", { inside: 1, outside: 9 }],
    ["openat2, whose mode cannot be seen", "openat2", "-100, 0, 0, 0", { inside: 38, outside: 22 }],
  ];
  test.each(calls)("%s: refused", async (_, call, args, { inside, outside }) => {
    const probe = perl(
      `$root = "/"; $r = syscall(${numberOf(call, architecture!)}, ${args}); exit 0 if $r == 0 && "${call}" eq "clone"; print $r < 0 ? $!+0 : 0`,
    );
    expect((await jail.run(probe)).stdout).toBe(String(inside));
    const without = runUnshielded(place.workspace, probe).stdout;
    expect(without).toMatch(typeof outside === "number" ? new RegExp(`^${outside}$`) : outside);
  });

  test("typing into a terminal: EPERM", async () => {
    // A terminal of its own, as its controlling one: where the kernel still lets anybody type, it lets this.
    const probe = perl(
      `use POSIX; POSIX::setsid(); open(M, "+<", "/dev/ptmx") or exit 9; my $z = pack("i", 0); ioctl(M, 0x40045431, $z); my $n = pack("i", 0); ioctl(M, 0x80045430, $n); open(T, "+<", "/dev/pts/".unpack("i", $n)) or exit 8; ioctl(T, 0x540E, 0); my $c = "x"; print(ioctl(T, 0x5412, $c) ? 0 : $!+0)`,
    );
    expect((await jail.run(`setsid -f true; ${probe}`)).stdout).toBe("1");
    const isLegacy =
      !existsSync("/proc/sys/dev/tty/legacy_tiocsti") ||
      readFileSync("/proc/sys/dev/tty/legacy_tiocsti", "utf8") === "1\n";
    expect(runOutside(probe).stdout).toBe(isLegacy || isRoot ? "0" : "5");
  });

  test("what agents work with is let through: tracing their own, threads, unix sockets, FIFOs", async () => {
    const trace = perl(
      `$p = fork; if (!$p) { sleep 9 } $r = syscall(${ptrace}, 16, $p, 0, 0); waitpid($p, 2); kill 9, $p; exit($r == 0 ? 0 : 1)`,
    );
    const unix = perl(
      `unlink "s"; socket(S,1,1,0) && bind(S, pack("Sa*", 1, "s\\0")) && listen(S, 1) && socket(C,1,1,0) && connect(C, pack("Sa*", 1, "s\\0")) or exit 1`,
    );
    for (const text of [trace, unix, "mkfifo pipe", "unshare --version"]) {
      expect({ text, ...(await jail.run(text)) }).toMatchObject({ text, exitCode: 0 });
    }
  });

  test("a program gets no set-user-id bit, in no way", async () => {
    const nr = (call: SystemCall) => numberOf(call, architecture!);
    const ways = [
      "cp /bin/true mine && chmod u+s mine",
      "install -m 4755 /bin/true mine2",
      perl(`$f = "mine3"; syscall(${nr("openat")}, -100, $f, 0x41, 04755) < 0 and exit 1`),
      perl(`$f = "mine4"; syscall(${nr("mknodat")}, -100, $f, 0104755, 0) < 0 and exit 1`),
      perl(`$f = "pipe"; syscall(${nr("fchmodat2")}, -100, $f, 04755, 0) < 0 and exit 1`),
    ];
    for (const text of ways) await expectRefused(jail, text);
    expect((await jail.run("find . -perm -4000")).stdout).toBe("");
    rmSync(join(place.workspace, "mine"), { force: true });
    expect(runUnshielded(place.workspace, `${ways[0]} && rm mine`).exitCode).toBe(0);
  });

  test("under root, whose jails have their workspace's group, nothing gets a set-group-id bit either; a user's folders may have it", async () => {
    const nr = (call: SystemCall) => numberOf(call, architecture!);
    const [folder, ...programs] = [
      "mkdir shared && chmod 2775 shared",
      "cp /bin/true mine && chmod g+s mine",
      "install -m 2755 /bin/true mine2",
      perl(`$f = "mine3"; syscall(${nr("openat")}, -100, $f, 0x41, 02755) < 0 and exit 1`),
      perl(`$f = "mine4"; syscall(${nr("mknodat")}, -100, $f, 0102755, 0) < 0 and exit 1`),
      perl(`$f = "mine5"; open(F, ">", $f); syscall(${nr("fchmod")}, fileno(F), 02755) < 0 and exit 1`),
    ];
    const through = async (text: string) => (await jail.run(text)).exitCode === 0;
    const outcomes = [await through(folder), await through(programs.join(" || "))];
    expect(outcomes).toEqual(isRoot ? [false, false] : [true, true]);
    await jail.run("rm -rf shared mine mine[2-5]");
    expect(runUnshielded(place.workspace, `${programs[0]} && rm mine`).exitCode).toBe(0);
  });

  test.skipIf(!hasCompiler || architecture !== "x64")("a 32-bit call ends its process (needs gcc)", async () => {
    const program = `#include <stdio.h>\nint main(void) { int r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(20)); puts("came through"); return 0; }\n`;
    const source = join(place.workspace, "old.c");
    writeFileSync(source, program);
    execFileSync("/usr/bin/gcc", ["-o", join(place.workspace, "old"), source]);
    chmodSync(join(place.workspace, "old"), 0o755);
    expect(await jail.run("./old")).toMatchObject({ stdout: "", exitCode: 128 + 31 });
    expect(runUnshielded(place.workspace, "./old").stdout).toBe("came through\n");
  });
});

describe("privileges", () => {
  test("nobody says who logged in, so no record of the kernel's audit log names another user", async () => {
    const unset = "4294967295";
    const own = existsSync("/proc/self/loginuid") ? readFileSync("/proc/self/loginuid", "latin1") : "";
    const says = "sh -c 'echo 1234 >/proc/self/loginuid && grep -qx 1234 /proc/self/loginuid'";
    await expectRefused(jail, says);
    const shown = (await jail.run("cat /proc/self/loginuid 2>/dev/null")).stdout;
    const mapped = isRoot ? "0" : "1000";
    expect(own === unset ? shown : mapped).toBe(mapped);
    // A user namespace lets a process name its own user alone.
    const isProbed = own === unset && isRoot;
    expect(!isProbed || runUnshielded(place.workspace, says).exitCode === 0).toBe(true);
  });

  test.skipIf(!isRoot)("nobody takes another group on (needs root, who can)", async () => {
    const probe = (call: string) => perl(`use POSIX; ${call}; exit(grep({ $_ == 5 } split(" ", "$( $)")) ? 0 : 1)`);
    const ways = ["POSIX::setgid(5)", "$( = 5", `$) = "5 5"`].map(probe);
    for (const way of ways) await cannot(way);
  });

  test("nobody becomes root, and no namespace gives more", async () => {
    for (const text of [
      "unshare -U true",
      "unshare -m true",
      "unshare -n true",
      "chroot / true",
      "setpriv --reuid=0 true",
      "mount --bind /usr /tmp",
      "nsenter -t 1 -m true",
    ])
      await expectRefused(jail, text);
    expect(runUnshielded(place.workspace, "unshare -Ur id -u").stdout).toBe("0\n");
  });

  test.skipIf(setUserId === undefined)(
    "a set-user-id program of root's runs as the agent (needs root, to make one)",
    async () => {
      const { run } = await place.open({ readable: [dirname(setUserId!)] });
      expect((await run(`${setUserId} -u`)).stdout).toBe(isRoot ? "65533\n" : "1000\n");
      const as = isRoot ? { uid: 1234, gid: 1234 } : {};
      expect(spawnSync(setUserId!, ["-u"], { ...as, encoding: "utf8" }).stdout).toBe("0\n");
    },
  );
});

/** `id`, made set-user-id by root; for an ordinary user by whoever runs these tests. */
function makeSetUserId(): string | undefined {
  if (!isRoot) return process.env["CORRAL_TEST_SETUID"];
  const folder = mkdtempSync(join(tmpdir(), "corral-setuid-"));
  ends.push(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o755);
  copyFileSync("/usr/bin/id", join(folder, "id"));
  chmodSync(join(folder, "id"), 0o4755);
  return join(folder, "id");
}

function perl(text: string): string {
  return `/usr/bin/perl -e '${text}'`;
}

function newWorkspace(name: string): string {
  const path = join(place.home, name);
  mkdirSync(path);
  place.give(path);
  return path;
}

/** Comes through on the machine, and does not in the jails. */
async function cannot(probe: string, jails: readonly OpenJail[] = [jail]): Promise<void> {
  // Not before the others: this process has to answer where the probe asks a server of its own.
  const child = spawn("/bin/sh", ["-c", probe], { stdio: "ignore" });
  expect({ probe, exitCode: (await once(child, "close"))[0] as number }).toEqual({ probe, exitCode: 0 });
  for (const each of jails) await expectRefused(each, probe);
}

async function expectRefused({ run }: OpenJail, probe: string): Promise<void> {
  const { exitCode } = await run(`{ ${probe}; } >/dev/null 2>&1`);
  expect({ probe, refused: exitCode !== 0 }).toEqual({ probe, refused: true });
}
