import { chmodSync, copyFileSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

/*
 * What programs need of the machine's /etc and holds no secret. To mount one folder is many times as fast as to mount
 * twenty of its entries, so the small ones are copied into a folder that jails share.
 */
const always = [
  "alternatives",
  "ca-certificates",
  "ca-certificates.conf",
  "debian_version",
  "gai.conf",
  "host.conf",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "magic",
  "maven/logging",
  "maven/m2.conf",
  "mime.types",
  "os-release",
  "protocols",
  "services",
  "ssl/certs",
  "ssl/openssl.cnf",
  "terminfo",
  "timezone",
];

/** What each version of a program has of its own: without, Java does not begin. */
const versioned = /^java(-\d+)?-openjdk$/;

function copied(etc = "/etc"): string[] {
  return [...always, ...readdirSync(etc).filter((name) => versioned.test(name))];
}

/** Folders whose own folders change without them. */
const mounted = ["crypto-policies", "pki/ca-trust", "pki/tls/certs"];

/** Those of these that this machine has, each with a place to be mounted on in the copy. */
export function mountedEtc(): string[] {
  return mounted.filter((name) => lstatSync(join("/etc", name), { throwIfNoEntry: false })?.isDirectory() === true);
}

/** Changes when the copy would: a file by its time, a folder by what is added, replaced or removed in it. */
export function etcVersion(): string {
  const seen = copied().map((name) => {
    const found = lstatSync(join("/etc", name), { throwIfNoEntry: false });
    return found === undefined ? name : `${name} ${found.ino} ${found.size} ${found.mtimeMs}`;
  });
  return [...seen, ...mountedEtc()].join("\n");
}

/**
 * Links stay links, and lead nowhere but inside the jail. Programs may be installed meanwhile: what goes while it is copied is left out, and the
 * version that this is a copy of is none that a later jail asks for.
 */
export function copyEtc(into: string, etc = "/etc"): void {
  makeOpen(into);
  for (const name of mountedEtc()) makeOpenBelow(into, name);
  for (const name of copied(etc)) {
    const source = join(etc, name);
    if (lstatSync(source, { throwIfNoEntry: false }) === undefined) continue;
    makeOpenBelow(into, dirname(name));
    unlessGone(() => copyShown(source, join(into, name)));
  }
}

/** What the machine keeps from others stays kept from the jail. */
function copyShown(source: string, into: string): void {
  const found = lstatSync(source);
  if (found.isSymbolicLink()) symlinkSync(readlinkSync(source), into);
  else if (found.isFile() && (found.mode & 0o004) !== 0) {
    copyFileSync(source, into);
    chmodSync(into, 0o644);
  } else if (found.isDirectory() && (found.mode & 0o005) === 0o005) {
    makeOpen(into);
    for (const name of readdirSync(source)) unlessGone(() => copyShown(join(source, name), join(into, name)));
  }
}

/** Or is something else by now. */
function unlessGone(copy: () => void): void {
  try {
    copy();
  } catch (error) {
    if (!gone.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

const gone: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EINVAL"]);

function makeOpenBelow(folder: string, path: string): void {
  if (path === ".") return;
  makeOpenBelow(folder, dirname(path));
  makeOpen(join(folder, path));
}

/** Readable to the jail's user whatever the umask is; the folder above lets nobody else in. */
function makeOpen(folder: string): void {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
}
