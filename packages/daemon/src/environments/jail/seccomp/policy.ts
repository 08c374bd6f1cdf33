import type { SystemCall } from "./syscalls.ts";

/**
 * Which system calls a jail refuses. All others are let through: the namespaces decide what they reach. Refused is what
 * reaches around the namespaces, what most holes of kernels were in, and what no build, test or tool has a use for.
 * ptrace stays: it reaches the jail's own processes alone, and agents debug with it.
 */
export function refusals({ unixSockets, sharedSegments, setGroupId }: Circumstances): readonly Refusal[] {
  return [
    ...always,
    ...modeRules(setGroupId === "refused" ? setIds.user | setIds.group : setIds.user),
    ...socketRules(unixSockets),
    ...(sharedSegments === "small" ? [largeSegments] : []),
  ];
}

/** What a jail is like, as far as the calls depend on it. */
export interface Circumstances {
  /**
   * Unless the jail has a network namespace of its own, unix sockets reach the machine's abstract ones, of which some
   * obey whoever has the operator's uid. Pairs of sockets are let through in any case.
   */
  readonly unixSockets: "own" | "refused";
  /** Segments of shared memory (System V) stay when nobody maps them, and only a cgroup counts them then. */
  readonly sharedSegments: "any" | "small";
  /**
   * Under root a jail has the group of its workspace, which may be one that opens doors on the machine, and a set-group-id program would give it to
   * everybody. A folder with that bit is harmless, but looks the same in a call.
   */
  readonly setGroupId: "own" | "refused";
}

export interface Refusal {
  readonly calls: readonly SystemCall[];
  /** All of these have to hold; without: in any case. */
  readonly when?: readonly Condition[];
  readonly answer: Errno;
}

/** `above` is about a whole argument, the others about its lower 32 bits: of the arguments that they look at the kernel itself looks at no more. */
export type Condition =
  | { readonly argument: number; readonly above: number }
  | { readonly argument: number; readonly anyOf: number }
  | { readonly argument: number; readonly in: readonly number[] }
  | { readonly argument: number; readonly notIn: readonly number[] };

export type Errno = keyof typeof errnos;

export const errnos = {
  /** It is not done, and said to be. */
  SUCCESS: 0,
  EPERM: 1,
  EINVAL: 22,
  ENOSYS: 38,
  EPROTONOSUPPORT: 93,
  EOPNOTSUPP: 95,
  EAFNOSUPPORT: 97,
} as const;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const newNamespaces = 0x7e02_0000;
/** Only for unshare: in clone these bits are the signal's. */
const newTimeNamespace = 0x80;

const setIds = { user: 0o4000, group: 0o2000 };
const creates = 0o100 | 0o20_000_000; // O_CREAT, O_TMPFILE

const personalities = {
  /** Bits that change what uname says (PER_LINUX32, UNAME26) and where memory is (ADDR_NO_RANDOMIZE, for debuggers). */
  harmless: 0x0008 | 0x0002_0000 | 0x0004_0000,
  asks: 0xffff_ffff,
};

/** Ways of `fallocate` that take no room: PUNCH_HOLE with KEEP_SIZE, COLLAPSE_RANGE. */
const givingRoom = [0x03, 0x08];

/** RLIMIT_CORE. */
const coreDumps = 4;
/** Who passes no new limit only asks. */
const setsCoreDumps: readonly Condition[] = [
  { argument: 1, in: [coreDumps] },
  { argument: 2, above: 0 },
];

const always: readonly Refusal[] = [
  { calls: ["clone"], when: [{ argument: 0, anyOf: newNamespaces }], answer: "EPERM" },
  { calls: ["unshare"], when: [{ argument: 0, anyOf: newNamespaces | newTimeNamespace }], answer: "EPERM" },
  { calls: ["setns"], answer: "EPERM" },
  // Its flags are in memory, where nothing can be looked at; libc takes clone instead.
  { calls: ["clone3"], answer: "ENOSYS" },

  { calls: ["mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr", "move_mount"], answer: "EPERM" },
  { calls: ["fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"], answer: "EPERM" },
  { calls: ["open_by_handle_at", "fanotify_init", "quotactl", "quotactl_fd"], answer: "EPERM" },

  // Keyrings have no namespace.
  { calls: ["add_key", "request_key", "keyctl"], answer: "EPERM" },
  { calls: ["bpf", "perf_event_open", "userfaultfd"], answer: "EPERM" },
  { calls: ["io_uring_setup", "io_uring_enter", "io_uring_register"], answer: "EPERM" },
  { calls: ["mbind", "set_mempolicy", "set_mempolicy_home_node", "migrate_pages", "move_pages"], answer: "EPERM" },

  { calls: ["kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module"], answer: "EPERM" },
  { calls: ["reboot", "swapon", "swapoff", "acct", "syslog", "vhangup"], answer: "EPERM" },
  { calls: ["settimeofday", "clock_settime", "sethostname", "setdomainname"], answer: "EPERM" },
  { calls: ["iopl", "ioperm", "modify_ldt"], answer: "EPERM" },

  {
    calls: ["personality"],
    when: [
      { argument: 0, anyOf: ~personalities.harmless >>> 0 },
      { argument: 0, notIn: [personalities.asks] },
    ],
    answer: "EPERM",
  },
  // TIOCSTI and TIOCLINUX type into a terminal; TIOCSETD loads line disciplines.
  { calls: ["ioctl"], when: [{ argument: 1, in: [0x5412, 0x541c, 0x5423] }], answer: "EPERM" },

  // Its mode is in memory; whoever calls it can do without.
  { calls: ["openat2"], answer: "ENOSYS" },

  // It takes the disk at once, and the kernel does not count it as written by anybody; who calls it writes where a file system does not have it.
  { calls: ["fallocate"], when: [{ argument: 1, notIn: givingRoom }], answer: "EOPNOTSUPP" },

  // The limit of core dumps stays what it is: 0 would have the kernel run its handler for them again. Who wants none is told that there are none.
  { calls: ["setrlimit"], when: [{ argument: 0, in: [coreDumps] }], answer: "SUCCESS" },
  { calls: ["prlimit64"], when: [...setsCoreDumps, { argument: 3, above: 0 }], answer: "EPERM" },
  { calls: ["prlimit64"], when: setsCoreDumps, answer: "SUCCESS" },

  // What hardly a kernel has any more.
  { calls: ["_sysctl", "sysfs", "ustat", "uselib", "nfsservctl", "lookup_dcookie"], answer: "ENOSYS" },
  { calls: ["create_module", "query_module", "get_kernel_syms", "epoll_ctl_old", "epoll_wait_old"], answer: "ENOSYS" },
  { calls: ["getpmsg", "putpmsg", "afs_syscall", "tuxcall", "security", "vserver"], answer: "ENOSYS" },
];

/** Against programs that lie in the workspace and run as the operator, or with the workspace's group, whoever starts them. */
function modeRules(bits: number): Refusal[] {
  return [
    { calls: ["chmod", "fchmod", "mknod", "creat"], when: [{ argument: 1, anyOf: bits }], answer: "EPERM" },
    { calls: ["fchmodat", "fchmodat2", "mknodat"], when: [{ argument: 2, anyOf: bits }], answer: "EPERM" },
    {
      calls: ["open"],
      when: [
        { argument: 1, anyOf: creates },
        { argument: 2, anyOf: bits },
      ],
      answer: "EPERM",
    },
    {
      calls: ["openat"],
      when: [
        { argument: 2, anyOf: creates },
        { argument: 3, anyOf: bits },
      ],
      answer: "EPERM",
    },
  ];
}

/** As where `kernel.shmmax` is so low. Databases mark by such a segment that they run; an agent may have a few thousand. */
const largeSegments: Refusal = { calls: ["shmget"], when: [{ argument: 1, above: 2 ** 14 }], answer: "EINVAL" };

const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 };
const netlinkRoute = 0;

function socketRules(unixSockets: Circumstances["unixSockets"]): Refusal[] {
  const { unix, inet, inet6, netlink } = families;
  const all = [unix, inet, inet6, netlink];
  const open = unixSockets === "own" ? all : [inet, inet6, netlink];
  const otherNetlink: Condition[] = [
    { argument: 0, in: [netlink] },
    { argument: 2, notIn: [netlinkRoute] },
  ];
  return [
    { calls: ["socket"], when: [{ argument: 0, notIn: open }], answer: "EAFNOSUPPORT" },
    { calls: ["socketpair"], when: [{ argument: 0, notIn: all }], answer: "EAFNOSUPPORT" },
    { calls: ["socket", "socketpair"], when: otherNetlink, answer: "EPROTONOSUPPORT" },
  ];
}
