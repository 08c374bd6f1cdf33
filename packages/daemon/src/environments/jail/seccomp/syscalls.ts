/** The processors that there are walls for. */
export type Architecture = "x64" | "arm64";

export const architectures: readonly Architecture[] = ["x64", "arm64"];

/**
 * The numbers of the system calls that the policy names: on x86-64, then on arm64, where many old calls never
 * existed. From 424 on numbers are the same everywhere.
 */
const numbers = {
  _sysctl: [156],
  acct: [163, 89],
  add_key: [248, 217],
  afs_syscall: [183],
  bpf: [321, 280],
  chmod: [90],
  chroot: [161, 51],
  clock_settime: [227, 112],
  clone: [56, 220],
  clone3: [435, 435],
  creat: [85],
  create_module: [174],
  delete_module: [176, 106],
  epoll_ctl_old: [214],
  epoll_wait_old: [215],
  fallocate: [285, 47],
  fanotify_init: [300, 262],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  get_kernel_syms: [177],
  getpmsg: [181],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioctl: [16, 29],
  ioperm: [173],
  iopl: [172],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  lookup_dcookie: [212, 18],
  mbind: [237, 235],
  migrate_pages: [256, 238],
  mknod: [133],
  mknodat: [259, 33],
  modify_ldt: [154],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  move_pages: [279, 239],
  nfsservctl: [180, 42],
  open: [2],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  openat: [257, 56],
  openat2: [437, 437],
  perf_event_open: [298, 241],
  personality: [135, 92],
  pivot_root: [155, 41],
  prlimit64: [302, 261],
  putpmsg: [182],
  query_module: [178],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  security: [185],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: [450, 450],
  setdomainname: [171, 162],
  sethostname: [170, 161],
  setns: [308, 268],
  setrlimit: [160, 164],
  settimeofday: [164, 170],
  shmget: [29, 194],
  socket: [41, 198],
  socketpair: [53, 199],
  swapoff: [168, 225],
  swapon: [167, 224],
  sysfs: [139],
  syslog: [103, 116],
  tuxcall: [184],
  umount2: [166, 39],
  unshare: [272, 97],
  uselib: [134],
  userfaultfd: [323, 282],
  ustat: [136],
  vhangup: [153, 58],
  vserver: [236],
} as const satisfies Record<string, readonly [x64: number, arm64?: number]>;

export type SystemCall = keyof typeof numbers;

export const systemCalls = Object.keys(numbers) as readonly SystemCall[];

/** `file_setattr`: what came later is looked at before it is let through. */
export const newestKnown = 469;

/** Undefined where the architecture never had it. */
export function numberOf(call: SystemCall, architecture: Architecture): number | undefined {
  const [x64, arm64]: readonly [number, number?] = numbers[call];
  return architecture === "x64" ? x64 : arm64;
}
