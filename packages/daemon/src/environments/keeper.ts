import { quoted } from "./quoting.ts";

/**
 * The keeper is the first process of an environment. It starts the workers, which are the shells that evaluate the agent's
 * commands, and programs, and it writes down how they ended. All are POSIX sh and rest in blocking system calls.
 *
 * Invariants
 * 1. The keeper never evaluates text that an agent wrote, and as pid 1 of a namespace no signal from inside ends it.
 * 2. `ID.out` exists: the command began, or was given up before it could (then its ending is there, too). `ID.rc` ends with a newline: it is over, and this is how.
 *    An id whose `.out` exists never begins again, so telling a worker an id twice is harmless.
 * 3. `ID.rc` is written by the worker (`CODE`), right after it said so on `done` (`ID CODE PASS`), or, when the worker died, by the keeper
 *    (`CODE WHY`), after everything that had to end has ended. Then `ID` alone is said.
 * 4. Whoever asks something of the keeper adds a line to `control` and sends USR1. The keeper reads it as a file, from where
 *    it stopped, so nobody can make it wait there. Its own helpers do the same: lines have an order, signals that wait have none.
 * 5. Traps only note that something came. The work is done between two waits, and a wait for the keeper itself is none. (Work in a trap
 *    that another trap interrupts would get the wrong exit codes from some shells.)
 * 6. Words on `words` and `done` are hints. A process of its own says them, so a reader who hangs holds nobody up.
 * 7. Present is who holds `here` open from outside. Who does so inside is ended, once in a grace.
 * 8. The keeper holds `words` open both ways: it ends when the keeper has gone, and not before. A worker holds its `go` both ways.
 * 9. The keeper begins when it is told that its identity is on file. If whoever started it died before, it ends at
 *    once, so there is no environment that a sweep could not find.
 */

/** Counted up when who speaks with keepers and workers from outside would no longer be understood by those that run. */
export const keeperWords = 2;

/** Where the spool is, seen from inside a jail. */
export const spoolInside = "/run/corral";

/** Where the workspace is, seen from inside a jail. */
export const workspaceInside = "/workspace";

/** Where the scripts are, seen from inside a jail; read-only. In /etc, which a jail has of its own already: each mount more takes time. */
export const scriptsInside = "/etc/corral";

/** Where programs are looked for in a jail. */
export const pathInside = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/** Where the folder with the proxy's socket is, seen from inside a jail whose network is `allow`; read-only. */
export const egressInside = "/run/egress";

/** Where the program is that runs the bridge to it; read-only. */
export const runtimeInside = "/run/runtime";

/** Where environments show something of their own, whatever the host has there. */
export const placesInside: readonly string[] = [
  workspaceInside,
  spoolInside,
  scriptsInside,
  egressInside,
  runtimeInside,
];

/**
 * In this order, so that with the last one all are there. Whoever starts a keeper may make them while it loads, which takes as long as the rest of its
 * start; what is missing it makes itself.
 */
export const keeperFifos = ["go", "done", "words", "here"] as const;

/** What the keeper says on its standard error, once, when commands can be sent. */
export const readyLine = "corral: ready";

/** What the keeper is told on its standard input, once, when it may begin. */
export const beginLine = "begin";

/** Says that there is something new in `control`. */
export const askSignal = "SIGUSR1";

/** The shell that every environment has. */
export const mainShell = "main";

/**
 * What the names of a shell's files begin with. There are no folders in a spool: an agent could put a link in the place of one.
 * No id has a dot, so no shell takes a file of another one for its own.
 */
export function shellPrefix(name: string): string {
  return name === mainShell ? "" : `${name}.`;
}

/** What runs a script in POSIX sh. */
export type ShellCommand = readonly [string, ...string[]];

/** Where a keeper is and what it can do there. Paths are as the keeper sees them. */
export interface KeeperSite {
  readonly spool: string;
  readonly workspace: string;
  readonly scripts: string;
  readonly shell: ShellCommand;
  readonly reach: KeeperReach;
}

/** How a keeper reaches the processes of its environment, in POSIX sh. Nobody outside is ever reached. */
export interface KeeperReach {
  /** Ends the keeper unless it is where it should be. */
  readonly check: string;
  /** Sends signal `$1` to everyone but the keeper. Fails when there is nobody; signal 0 only finds that out. */
  readonly signalEveryone: string;
  /** Sets `all` to `PID:PARENT` of everyone, also of the keeper, with `look PID`, which sets `parent` or fails. */
  readonly listEveryone: string;
}

/** In a pid namespace whose first process the keeper is. */
export const reachOfNamespace: KeeperReach = {
  check: `
[ "$$" = 1 ] || exit 1
# Some shells need it before a number below zero, and some do not know it.
if kill -s 0 -- "$$" 2>/dev/null; then dashes=--; else dashes=; fi`,
  signalEveryone: `kill -s "$1" $dashes -1`,
  listEveryone: `
  all=
  for each in /proc/[0-9]*; do
    each=\${each#/proc/}
    look "$each" && all="$all $each:$parent"
  done`,
};

/**
 * The keeper takes two arguments: the seconds that an idle environment waits for somebody to come back, and shell words
 * that set limits and variables for it and for all that it starts.
 */
export function keeperScript({ spool, workspace, scripts, shell, reach }: KeeperSite): string {
  const sh = shell.map(quoted).join(" ");
  return `
cd ${quoted(spool)} || exit 1
${reach.check}
read -r word && [ "$word" = ${beginLine} ] || exit 1
exec </dev/null
command eval "$2" 2>/dev/null
spool=${quoted(spool)} workspace=${quoted(workspace)} scripts=${quoted(scripts)}
grace=$1 interrupted= target= partial= watches=0 alone= over= watcher= timers= overseer= shells= programs= guards= unwritten=

: >control || exit 1
[ -p ${keeperFifos.at(-1)} ] || mkfifo -m 600 ${keeperFifos.join(" ")}
for each in ${keeperFifos.join(" ")}; do [ -p "$each" ] || exit 1; done
exec 8<>words 9<control
if [ -n "$BASH_VERSION" ]; then
  mkfifo -m 600 rest && exec 7<>rest && rm rest || exit 1
fi

# Before anybody knows of the keeper: as pid 1 it never gets a signal that it does not handle.
trap 'target=$$ interrupted=1' USR1 HUP CONT
[ -n "$BASH_VERSION" ] || trap 'target=$$ interrupted=1' CHLD

# From now on commands can be sent. A shell takes in one command after the other: whoever waited for the word goes on while it comes to know the rest.
echo '${readyLine}' >&2
exec 2>/dev/null

signal_everyone() {
  ${reach.signalEveryone}
}

list_everyone() {
  ${reach.listEveryone}
}

# Whether it runs: a zombie that nobody collected yet has ended. A name may look like anything, so fields count from its end.
look() {
  read -r line <"/proc/$1/stat" || return 1
  line=\${line##*) }
  case $line in [ZX]*) return 1 ;; esac
  line=\${line#* } parent=\${line%% *}
}

# The same, by one question in place of hundreds: a shell reads byte by byte. Of who hides its program the question says nothing.
runs() {
  [ -e "/proc/$1/exe" ] || look "$1"
}

# In eval, so that a fork refused by a limit is an error and not the end of the keeper.
nap() {
  command eval 'sleep 0.01'
}

# When memory runs out, all that the keeper starts goes before the keeper.
go_first() {
  echo 500 >/proc/self/oom_score_adj
}

say() {
  where=$1 word=$2
  command eval 'echo "$word" 7<&- 8<&- 9<&- 1<>"$where" &'
}

# Sets "up" to a clock in seconds; rounds are counted too, for a round may take long and a clock may be missing.
look_at_clock() {
  up=0
  read -r up rest </proc/uptime
  up=\${up%.*}
}

end_everyone() {
  signal_everyone TERM
  signal_everyone CONT
  n=0
  look_at_clock
  started=$up
  while [ $n -lt 80 ] && [ $((up - started)) -lt 3 ] && signal_everyone 0; do
    n=$((n + 1))
    nap
    look_at_clock
  done
  signal_everyone KILL
  n=0
  while [ $n -lt 200 ] && signal_everyone 0; do
    n=$((n + 1))
    nap
  done
  timers= guards=
}

# Sets "found" to everyone who belongs neither to the keeper nor to one of the processes named.
find_others() {
  list_everyone
  spared=" $watcher $timers $* "
  for each in $guards; do spared="$spared\${each#*:} "; done
  grew=1
  while [ -n "$grew" ]; do
    grew=
    for each in $all; do
      case $spared in *" \${each%:*} "*) continue ;; esac
      case $spared in *" \${each#*:} "*) spared="$spared\${each%:*} " grew=1 ;; esac
    done
  done
  found=
  for each in $all; do
    case "$spared$$ " in *" \${each%:*} "*) ;; *) found="$found \${each%:*}" ;; esac
  done
}

# Ends all but the trees of those named. Who multiplies faster than can be looked for takes everyone along.
end_others() {
  find_others "$@"
  [ -z "$found" ] || { kill -s TERM $found; kill -s CONT $found; }
  n=0
  look_at_clock
  started=$up
  while [ $n -lt 60 ] && [ $((up - started)) -lt 2 ] && [ -n "$found" ]; do
    n=$((n + 1))
    nap
    find_others "$@"
    look_at_clock
  done
  n=0
  while [ -n "$found" ]; do
    n=$((n + 1))
    [ $n -le 20 ] || { end_everyone; return; }
    kill -s KILL $found
    nap
    find_others "$@"
  done
}

# Sets "found" to the processes named and what descends from them.
find_trees() {
  list_everyone
  found=" $* " grew=1
  while [ -n "$grew" ]; do
    grew=
    for each in $all; do
      case $found in *" \${each%:*} "*) continue ;; esac
      case $found in *" \${each#*:} "*) found="$found\${each%:*} " grew=1 ;; esac
    done
  done
}

locate() {
  case $1 in ${mainShell}) at=./ ;; *) at=./${shellPrefix("$1")} ;; esac
}

# Sets "id" to the command of the shell at "at" that has begun and not ended.
in_flight() {
  for out in "$at"*.out; do
    id=\${out#"$at"} id=\${id%.out}
    [ -f "$out" ] || continue
    case $id in *[!A-Za-z0-9_-]*) continue ;; esac
    case $unwritten in *" $at$id.rc:"*) continue ;; esac
    { [ -f "$at$id.rc" ] && read -r seen <"$at$id.rc"; } || return 0
  done
  return 1
}

# Writes down in $1 how something ended. What the disk has no room for is tried again whenever the keeper wakes, for who waits wakes it.
write_down() {
  echo "$2\${3:+ $3}" >"$1" || unwritten="$unwritten $1:$2:$3"
}

write_again() {
  again=$unwritten unwritten=
  for each in $again; do
    words=\${each#*:}
    write_down "\${each%%:*}" "\${words%:*}" "\${words#*:}"
  done
}

is_busy() {
  for entry in $shells; do
    locate "\${entry%:*}"
    in_flight && return
  done
  return 1
}

timer() {
  nap=
  trap '[ -z "$nap" ] || kill $nap; exit' TERM
  sleep "$1" & nap=$!
  wait $nap || exit
  tell "$2"
}

start_timer() {
  seconds=$1 line=$2
  [ "$seconds" -ge 0 ] || seconds=0
  latest=
  command eval '{ exec 7<&- 8<&- 9<&-; go_first; timer "$seconds" "$line"; } & latest=$!'
  timers="$timers $latest"
}

# Armed again, because the grace is over or a command has killed a timer, the time that has passed still counts.
arm() {
  stop_timers
  read -r now rest </proc/uptime
  now=\${now%%.*}
  [ -n "$alone" ] || since= away=$now
  alone=1 since=\${since:-$now}
  start_timer $((grace - now + since)) "over $watches"
  overseer=$latest
  for entry in $shells; do
    name=\${entry%:*}
    locate "$name"
    in_flight || continue
    limit=
    [ -f "$at$id.limit" ] && read -r limit <"$at$id.limit"
    case $limit in '' | *[!0-9]*) limit=$grace ;; esac
    start_timer $((limit - now + away)) "stop $name time"
  done
}

keep_timers() {
  for each in $timers; do
    runs "$each" && continue
    if [ -n "$alone" ]; then arm; else oversee; fi
    return
  done
}

stop_timers() {
  [ -z "$timers" ] || kill $timers
  timers=
}

# The one of the grace goes on: when that is over, it is seen who is present.
disarm() {
  for each in $timers; do
    [ "$each" = "$overseer" ] || kill "$each"
  done
  timers=$overseer alone=
}

oversee() {
  timers=
  start_timer "$((grace + 1))" "over $watches"
  overseer=$latest
}

# Nobody in the environment has any business with "here". Who has it open would be taken for somebody who is present.
end_pretenders() {
  [ -p "/proc/$watcher/fd/0" ] || return 0
  list_everyone
  for each in $all; do
    pid=\${each%:*}
    case $pid in $$ | "$watcher") continue ;; esac
    for held in "/proc/$pid"/fd/*; do
      [ "$held" -ef "/proc/$watcher/fd/0" ] && kill -s KILL "$pid" && break
    done
  done
}

# Present is who holds the writing end of "here": its opening and its end are all there is to see.
watch() {
  while :; do
    { tell "back $1"; while read -r word; do :; done; } <here
    tell "left $1"
  done
}

tell() {
  echo "$1" >>control
  kill -s USR1 $$
}

# Alone until the watch says otherwise: whoever opened the environment may have died since. Commands can end the watch.
keep_watch() {
  [ -z "$watcher" ] || ! runs "$watcher" || return 0
  watches=$((watches + 1))
  arm
  command eval '{ exec 7<&- 8<&- 9<&-; go_first; watch "$watches"; } & watcher=$!'
}

# A signal that comes while bash waits can make it lose the process that ended at that moment, and wait for it ever after. There the keeper rests
# for short times at a FIFO that nobody else has.
rest() {
  if [ -z "$BASH_VERSION" ]; then
    wait "$target"
  elif [ "$target" != $$ ]; then
    read -r -t 0.2 word <&7
  fi
}

mind_presence() {
  [ -n "$over" ] || return 0
  over=
  if [ -z "$alone" ]; then
    end_pretenders
    oversee
    return
  fi
  is_busy || leave
  since=
  arm
}

leave() {
  signal_everyone KILL
  exit 0
}

# Sets "status" to how a process has ended. A signal interrupts the wait; the true status comes with a later one, and then 127 for ever.
collect() {
  status=127
  if [ -n "$BASH_VERSION" ]; then
    # What a signal makes bash lose is lost. What was said meanwhile is looked for in the next round.
    trap '' USR1 HUP CONT
    wait "$1"
    status=$?
    trap 'target=$$ interrupted=1' USR1 HUP CONT
    target=$$
    return
  fi
  while :; do
    interrupted=
    wait "$1"
    code=$?
    case $interrupted$code in 127 | 1127 | 1129 | 1138 | 1145 | 1146) ;; *) status=$code ;; esac
    [ -n "$interrupted" ] || break
  done
}

# Makes room where the shell does not do so by itself; nobody asks how these ended.
collect_helpers() {
  [ -n "$watcher$timers" ] || wait
  for each in $watcher $timers; do collect "$each"; done
  watcher= timers=
}

# Sets "pid" to the entry named $1 of those that follow.
pick() {
  pid= wanted=$1
  shift
  for each in "$@"; do
    case $each in "$wanted":*) pid=\${each#*:} ;; esac
  done
  [ -n "$pid" ]
}

# Sets "rest" to those that follow without the entry named $1.
without() {
  rest= wanted=$1
  shift
  for each in "$@"; do
    case $each in "$wanted":*) ;; *) rest="$rest $each" ;; esac
  done
}

open_shell() {
  locate "$1"
  if ! pick "$1" $shells; then
    command eval 'mkfifo -m 600 "\${at}go" "\${at}done"'
    start_worker "$1" ""
  fi
  say words "opened $1"
}

become_worker() {
  go_first
  cd "$workspace"
  unset OLDPWD
  exec ${sh} "$scripts/worker.sh" "$1" "$2"
}

# $2: what it says before it does anything.
start_worker() {
  locate "$1"
  pid= first=$2
  # Who leaves no room for the worker has to go; the ended count until they are collected.
  until command eval 'become_worker "$spool/\${at#./}" "$first" 7<&- 8<&- 9<&- & pid=$!' && [ -n "$pid" ]; do
    signal_everyone KILL
    [ -n "$BASH_VERSION" ] || collect_helpers
    nap
  done
  without "$1" $shells
  shells="$rest $1:$pid"
}

# Writes down how the worker of $1 ended, and why, and starts another one. That its state is lost the new one says itself, before it takes a command.
replace_worker() {
  collect "$2"
  locate "$1"
  if in_flight; then
    write_down "$at$id.rc" "$status" "$3"
    start_worker "$1" "lost $id"
    say "\${at}done" "$id"
  else
    # Of a stop the one who asked for it is told.
    case $3 in respawned) start_worker "$1" lost ;; *) start_worker "$1" "" ;; esac
  fi
}

stop_shell() {
  pick "$1" $shells || return 0
  stopped=$pid others=
  without "$1" $shells
  for each in $rest $programs; do others="$others \${each#*:}"; done
  if [ -z "$others" ]; then end_everyone; else end_others $others; fi
  replace_worker "$1" "$stopped" "$2"
  say "\${at}done" stopped
}

close_shell() {
  [ "$1" != ${mainShell} ] && pick "$1" $shells || return 0
  end_tree "$pid"
  collect "$pid"
  without "$1" $shells
  shells=$rest
  locate "$1"
  command eval 'rm -f "$at"*'
  say words "closed $1"
}

become_program() {
  go_first
  cd "$workspace"
  unset OLDPWD
  exec ${sh} "$spool/$1.program"
}

start_program() {
  ! pick "$1" $programs || return 0
  name=$1 pid= guard=
  command eval 'mkfifo -m 600 "$name.stdin" "$name.stdout" "$name.stderr" "$name.life"' &&
    command eval 'become_program "$name" 7<&- 8<&- 9<&- <"$name.stdin" >"$name.stdout" 2>"$name.stderr" & pid=$!'
  if [ -z "$pid" ]; then
    echo 126 >"$name.ended"
    say words "ended $name"
    return
  fi
  programs="$programs $name:$pid"
  command eval '{ exec 7<&- 8<&- 9<&-; go_first; guard "$name"; } & guard=$!'
  guards="$guards $name:$guard"
  say words "made $name"
}

# Its owner holds "life" open, and with it the program lives.
guard() {
  while read -r word; do :; done <"$1.life"
  tell "end $1"
}

end_program() {
  ! pick "$1" $programs || end_tree "$pid"
}

end_tree() {
  find_trees "$1"
  first=$found
  kill -s TERM $found
  kill -s CONT $found
  n=0
  while [ $n -lt 40 ] && runs "$1"; do
    n=$((n + 1))
    nap
  done
  # Those who were found stay found: their parent may have gone by now. Who is stopped starts nobody.
  n=0 found=$first before=
  while [ $n -lt 20 ] && [ "$before" != "$found" ]; do
    n=$((n + 1)) before=$found
    kill -s STOP $found
    find_trees $found
  done
  kill -s KILL $found
}

settle_program() {
  collect "$2"
  write_down "$1.ended" "$status"
  without "$1" $programs
  programs=$rest
  ! pick "$1" $guards || kill "$pid"
  without "$1" $guards
  guards=$rest
  say words "ended $1"
}

look_after() {
  for entry in $shells; do
    runs "\${entry#*:}" || replace_worker "\${entry%:*}" "\${entry#*:}" respawned
  done
  for entry in $programs; do
    runs "\${entry#*:}" || settle_program "\${entry%:*}" "\${entry#*:}"
  done
}

hear() {
  while IFS= read -r line <&9 || { partial=$partial$line; false; }; do
    line=$partial$line partial=
    set -- $line
    case $2 in '' | *[!A-Za-z0-9_-]*) continue ;; esac
    case $1 in
      shell) open_shell "$2" ;;
      stop) stop_shell "$2" "$3" ;;
      close) close_shell "$2" ;;
      run) start_program "$2" ;;
      end) end_program "$2" ;;
      # Of a watch that was replaced nothing counts any more.
      back) [ "$2" != "$watches" ] || { over= && disarm; } ;;
      over) over=1 ;;
      left) [ "$2" != "$watches" ] || arm ;;
    esac
  done
}

start_worker ${mainShell} ""

# No trap runs between the words of one command, and a signal that has no trap run yet ends the wait: so none slips past.
while [ -p words ] && [ -p here ] && [ -f control ]; do
  target=$watcher
  hear
  look_after
  write_again
  keep_watch
  mind_presence
  keep_timers
  rest
done
leave
`;
}

/**
 * The worker takes two arguments: what the paths of its shell's files begin with, and what it says first, if anything. Its loop uses reserved
 * words, special builtins and `command` only: those are what no function or alias of an agent can replace (`unset` is special, and it
 * brings `command` back).
 */
export const workerScript = `
readonly _corral_at="$1"
[ -z "$2" ] || echo "$2" 1<>"\${_corral_at}done"
shift 2
_corral_run() {
  _corral_ran=1
  set +C
  command . "$_corral_at$_corral_text" </dev/null
}
exec 9<>"\${_corral_at}go"
# A loop that also ends when the agent has told the shell to do nothing more (set -n): then another one takes its place.
until ! :; do
  IFS=' ' command read -r _corral_id _corral_text <&9 || {
    # Above 128: interrupted by a signal that the agent traps.
    command test $? -gt 128 && continue
    # The agent may have closed it. Anything else only a new worker can mend.
    command test -p /proc/self/fd/9 && exit 1
    exec 9<>"\${_corral_at}go"
    command test -p /proc/self/fd/9 || exit 1
    continue
  }
  case $_corral_id in '' | *[!A-Za-z0-9_-]*) continue ;; esac
  case $_corral_text in '' | *[!A-Za-z0-9_.-]*) continue ;; esac
  _corral_ran=
  if ! command test -e "$_corral_at$_corral_id.out"; then
    # Whoever makes the file first decides whether the command runs: the worker here, or the runner that gave it up.
    set -C
    _corral_run >"$_corral_at$_corral_id.out" 2>"$_corral_at$_corral_id.err" 9<&-
    _corral_rc=$?
    unset -f command
    set +aCefnuvx
    command umask 022
  fi
  case $_corral_ran in
    1)
      # Who waits for it need not wait for the disk as well. By which word it is believed, the next line tells, which no command has seen.
      _corral_pass=
      IFS=' ' command read -r _corral_pass <&9
      command echo "$_corral_id $_corral_rc $_corral_pass" 1<>"\${_corral_at}done"
      # What the worker cannot write down, the keeper can.
      command echo "$_corral_rc" >"$_corral_at$_corral_id.rc" || exit "$_corral_rc"
      ;;
    *) command echo "$_corral_id" 1<>"\${_corral_at}done" ;;
  esac
done
`;
