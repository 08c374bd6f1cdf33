/** What is known of a program by its name alone. */
export interface Program {
  readonly effect: "reads" | "writes";
  /** What its words are that are no options. */
  readonly operands: "read" | "write" | "both" | "nothing";
  /** Options by which it does something else: writes, or runs another program. Beginnings of words. */
  readonly unclear?: readonly string[];
  /** It goes through whole folders. */
  readonly isDeep?: boolean;
  /** The first operand is no path: a pattern, a mode. */
  readonly skips?: number;
  /** With one of these options it is a path, too. Beginnings of words. */
  readonly skipsNoneWith?: readonly string[];
}

const toldPattern = ["-e", "-f", "--regexp", "--file"];

export const programs: Readonly<Record<string, Program>> = {
  ...all(
    "echo true false : pwd date uname id whoami sleep basename dirname seq expr nproc uptime arch tty groups exit return break continue shift wait jobs times umask dirs",
    { effect: "reads", operands: "nothing" },
  ),
  ...all(
    "cat head tail wc stat readlink realpath cmp cut nl od base64 sha224sum sha256sum sha1sum sha512sum md5sum cksum b2sum comm paste fold expand unexpand rev tac strings hexdump column fmt join look pr sum tsort zcat bzcat xzcat",
    { effect: "reads", operands: "read" },
  ),
  ...all("tr which type test [ numfmt", { effect: "reads", operands: "nothing" }),
  printf: { effect: "reads", operands: "nothing", unclear: ["-v"] },
  date: { effect: "reads", operands: "nothing", unclear: ["-s", "--s", "-f", "--f"] },
  file: { effect: "reads", operands: "read", unclear: ["-C", "--c"] },
  iconv: { effect: "reads", operands: "read", unclear: ["-o", "--o"] },
  ls: { effect: "reads", operands: "read" },
  du: { effect: "reads", operands: "read", isDeep: true },
  df: { effect: "reads", operands: "read" },
  tree: { effect: "reads", operands: "read", isDeep: true, unclear: ["-o", "-R"] },
  ...all("grep egrep fgrep zgrep", {
    effect: "reads",
    operands: "read",
    skips: 1,
    skipsNoneWith: toldPattern,
    isDeep: true,
  }),
  rg: {
    effect: "reads",
    operands: "read",
    skips: 1,
    skipsNoneWith: [...toldPattern, "--files", "--type-list"],
    isDeep: true,
    unclear: ["--pre", "-z", "--search-zip", "--hostname-bin"],
  },
  ag: { effect: "reads", operands: "read", skips: 1, isDeep: true, unclear: ["--pager"] },
  diff: { effect: "reads", operands: "read", isDeep: true, unclear: ["--o", "-o"] },
  sort: { effect: "reads", operands: "read", unclear: ["-o", "--o", "-T", "--t", "--c", "--files0"] },
  jq: { effect: "reads", operands: "read", skips: 1, unclear: ["-f", "--from-file", "-L"] },
  yq: { effect: "reads", operands: "read", skips: 1, unclear: ["-i", "--i", "-s", "--s"] },
  ps: { effect: "reads", operands: "nothing", unclear: ["-E"] },
  printenv: { effect: "reads", operands: "nothing" },
  ...all("mkdir rmdir touch rm unlink shred truncate mkfifo csplit patch tee", {
    effect: "writes",
    operands: "write",
    isDeep: true,
  }),
  split: { effect: "writes", operands: "both", unclear: ["--f"] },
  ...all("chmod chown chgrp", { effect: "writes", operands: "write", skips: 1, isDeep: true }),
  ...all("mv cp ln", { effect: "writes", operands: "both", isDeep: true }),
  install: { effect: "writes", operands: "both", isDeep: true, unclear: ["--strip-program"] },
  ...all("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd", { effect: "writes", operands: "both" }),
  ...all("unzip", { effect: "writes", operands: "both" }),
};

/** Programs that run others in ways that are not looked into. */
export const opaque: ReadonlySet<string> = new Set(
  [
    "parallel tmux screen at batch crontab systemd-run expect bwrap firejail nsenter unshare script su runuser pkexec setpriv capsh",
    "ld.so ld-linux.so.2 ld-linux-x86-64.so.2 start-stop-daemon daemonize dtach abduco perf gdb valgrind rlwrap socat ncat nc netcat",
    "source . alias unalias hash enable bind complete compopt shopt fc history let mapfile readarray declare typeset local readonly",
  ].flatMap((line) => line.split(" ")),
);

/** By which programs that are no interpreters can be told to run something. Beginnings of words. */
export const tellingOptions: Readonly<Record<string, readonly string[]>> = {
  tar: [
    "--to-command",
    "--checkpoint-action",
    "--use-compress",
    "-I",
    "--info-script",
    "--new-volume-script",
    "-F",
    "--rsh-command",
    "--rmt-command",
  ],
  bsdtar: ["--use-compress", "--options"],
  zip: ["-T", "--unzip-command", "--test"],
  rsync: ["-e", "--rsh", "--rsync-path"],
  scp: ["-S", "-o", "-F", "-D"],
  curl: ["-K", "--config", "--proxy-command"],
  wget: ["-e", "--execute", "--use-askpass", "--config", "-i"],
  make: ["--eval", "-E"],
  gmake: ["--eval", "-E"],
  ninja: ["-t"],
  cmake: ["-P", "-E"],
  go: ["-exec", "-toolexec", "-vettool"],
  cargo: ["--config"],
  fd: ["-x", "-X", "--exec"],
  fdfind: ["-x", "-X", "--exec"],
  openssl: ["-engine", "-provider"],
  docker: ["--entrypoint"],
  pip: ["--config-settings", "--global-option"],
  gcc: ["-wrapper", "-fplugin", "-specs", "-B"],
  clang: ["-load", "-fplugin", "-Xclang"],
  journalctl: ["--pager"],
};

function all(names: string, program: Program): Record<string, Program> {
  return Object.fromEntries(names.split(" ").map((name) => [name, program]));
}
