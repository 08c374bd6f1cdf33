import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

/*
 * What programs need of the machine's /etc and holds no secret. To mount one folder is many times as fast as to mount
 * twenty of its entries, so the small ones are copied into a folder that jails share.
 */
const copied = [
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
  "mime.types",
  "os-release",
  "protocols",
  "services",
  "ssl/openssl.cnf",
  "terminfo",
  "timezone",
];

/** Folders of hundreds of entries. */
const mounted = ["alternatives", "crypto-policies", "pki/ca-trust", "pki/tls/certs", "ssl/certs"];

/** Those of the big folders that this machine has, each with a place to be mounted on in the copy. */
export function mountedEtc(): string[] {
  return mounted.filter((name) => lstatSync(join("/etc", name), { throwIfNoEntry: false })?.isDirectory() === true);
}

/** Changes when the copy would: a file by its time, a folder by what is added, replaced or removed in it. */
export function etcVersion(): string {
  const seen = copied.map((name) => {
    const found = lstatSync(join("/etc", name), { throwIfNoEntry: false });
    return found === undefined ? name : `${name} ${found.ino} ${found.size} ${found.mtimeMs}`;
  });
  return [...seen, ...mountedEtc()].join("\n");
}

/** Links stay links, and lead nowhere but inside the jail. */
export function copyEtc(into: string): void {
  for (const name of mountedEtc()) mkdirSync(join(into, name), { recursive: true });
  for (const name of copied) {
    if (lstatSync(join("/etc", name), { throwIfNoEntry: false }) === undefined) continue;
    mkdirSync(dirname(join(into, name)), { recursive: true });
    cpSync(join("/etc", name), join(into, name), { recursive: true, verbatimSymlinks: true, filter: isShown });
  }
  openUp(into);
}

function isShown(source: string): boolean {
  const found = lstatSync(source, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return found !== undefined;
  // What the machine keeps from others stays kept from the jail.
  return (found.isFile() && (found.mode & 0o004) !== 0) || (found.isDirectory() && (found.mode & 0o005) === 0o005);
}

/** Readable to the jail's user whatever the umask is; the folder above lets nobody else in. */
function openUp(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openUp(path);
    else if (entry.isFile()) chmodSync(path, 0o644);
  }
}
