/**
 * The keeper is the first process of an environment (pid 1 of its namespace) and the worker is the
 * shell that evaluates the agent's commands. Both are POSIX sh and rest in blocking system calls.
 *
 * Invariants
 * 1. The keeper never evaluates text that an agent wrote, and as pid 1 no signal from inside ends it.
 * 2. `ID.out` exists: the command began, or was given up before it could (then its ending is there, too). `ID.rc` ends with a newline: it is over, and this is how.
 *    An id whose `.out` exists never begins again.
 * 3. `ID.rc` is written by the worker (`CODE`), or, when the worker died, by the keeper
 *    (`CODE respawned`, `CODE limit`, `CODE aborted`) after everything that had to end has ended.
 * 4. The keeper holds `go` and `done` open both ways, so nobody who opens one of them blocks and
 *    nothing written is lost while the other side is away.
 * 5. The keeper begins when it is told that its identity is on file. If whoever started it died before, it ends at
 *    once, so there is no environment that a sweep could not find.
 * 6. The worker's loop uses reserved words, special builtins and `command` only: those are what no
 *    function or alias of an agent can replace (`unset` is special, and it brings `command` back).
 */

/** Where the spool is, seen from inside. */
export const spoolInside = "/run/corral";

/** Where the workspace is, seen from inside. */
export const workspaceInside = "/workspace";

/** Where the two scripts are, seen from inside; read-only. */
export const scriptsInside = "/run/keeper";

/** Where environments show something of their own, whatever the host has there. */
export const placesInside: readonly string[] = [workspaceInside, spoolInside, scriptsInside];

/** What the keeper says on its standard error, once, when commands can be sent. */
export const readyLine = "corral: ready";

/** What the keeper is told on its standard input, once, when it may begin. */
export const beginLine = "begin";

/** What the runner tells the keeper by signal. */
export const keeperSignals = { limit: "SIGUSR1", aborted: "SIGUSR2" } as const;

/**
 * The keeper takes two arguments: the seconds that an idle environment waits for somebody to come back, and shell words
 * that set limits for it and for all that it starts.
 */
export const keeperScript = `
cd ${spoolInside} || exit 1
# Signals to everyone must never leave the environment.
[ "$$" = 1 ] || exit 1
read -r word && [ "$word" = ${beginLine} ] || exit 1
exec </dev/null
command eval "$2" 2>/dev/null
grace=$1 mark= timers= watcher= ending= interrupted=

end_everyone() {
  mark=$1 ending=1
  kill -s TERM -- -1
  kill -s CONT -- -1
  n=0
  while [ $n -lt 20 ] && kill -s 0 -- -1; do
    n=$((n + 1))
    # In eval, so that a fork refused by a limit is an error and not the end of the keeper.
    command eval 'sleep 0.05'
  done
  kill -s KILL -- -1
  timers= ending=
}

in_flight() {
  for out in *.out; do
    id=\${out%.out}
    [ -f "$out" ] || continue
    case $id in *[!A-Za-z0-9_-]*) continue ;; esac
    { [ -f "$id.rc" ] && read -r seen <"$id.rc"; } || return 0
  done
  return 1
}

timer() {
  nap=
  trap '[ -z "$nap" ] || kill $nap; exit' TERM
  sleep "$1" & nap=$!
  wait $nap && kill -s "$2" 1
}

arm() {
  disarm
  command eval 'timer "$grace" ALRM 7<&- 8<&- & timers=$!'
  in_flight || return
  limit=
  [ -f "$id.limit" ] && read -r limit <"$id.limit"
  case $limit in '' | *[!0-9]*) limit=$grace ;; esac
  command eval 'timer "$limit" USR1 7<&- 8<&- & timers="$timers $!"'
}

disarm() {
  [ -z "$timers" ] || kill $timers
  timers=
}

# Present is who holds the writing end of "here": its opening and its end are all there is to see.
watch() {
  while :; do
    { kill -s CONT 1; while read -r word; do :; done; } <here
    kill -s HUP 1
  done
}

# Alone until the watch says otherwise: whoever opened the environment may have died since. Commands can
# end the watch; a zombie that nobody collected yet is an ended one, too.
keep_watch() {
  [ -z "$ending" ] || return
  state=Z
  [ -z "$watcher" ] || read -r pid name state rest </proc/$watcher/stat
  case $state in [ZX]) ;; *) return ;; esac
  arm
  command eval 'watch 7<&- 8<&- & watcher=$!'
}

acknowledge() {
  [ -n "$mark" ] || return
  mark=
  echo stopped >&8
}

mkfifo -m 600 go done here || exit 1
exec 7<>go 8<>done

# Before anybody knows of the keeper: as pid 1 it never gets a signal that it does not handle.
trap 'interrupted=1; keep_watch' CHLD
trap 'interrupted=1; end_everyone limit' USR1
trap 'interrupted=1; end_everyone aborted' USR2
trap 'interrupted=1; arm' HUP
trap 'interrupted=1; disarm' CONT
trap 'interrupted=1; if in_flight; then arm; else exit 0; fi' ALRM

echo '${readyLine}' >&2
exec 2>/dev/null

while [ -p go ] && [ -p done ] && [ -p here ]; do
  # Who leaves no room for the worker has to go; the ended count until they are collected.
  until command eval '(cd ${workspaceInside}; unset OLDPWD; exec /bin/sh ${scriptsInside}/worker.sh) 7<&- 8<&- & worker=$!'; do
    kill -s KILL -- -1
    wait
  done
  keep_watch
  # For a stop that came while there was no worker.
  acknowledge

  # A signal interrupts the wait; the true status comes with a later one, and then 127 for ever.
  status=127
  while :; do
    interrupted=
    wait $worker
    code=$?
    case $interrupted$code in 127 | 1127 | 1129 | 1138 | 1140 | 1142 | 1145 | 1146) ;; *) status=$code ;; esac
    [ -n "$interrupted" ] || break
  done

  if in_flight; then
    echo "$status \${mark:-respawned}" >"$id.rc"
    echo "$id" >&8
  elif [ -z "$mark" ]; then
    echo lost >&8
  fi
  acknowledge
done
`;

export const workerScript = `
_corral_run() {
  _corral_ran=1
  set +C
  command . "${spoolInside}/$_corral_id.cmd" </dev/null
}
# When memory runs out, an agent's processes go before the keeper.
echo 500 >/proc/self/oom_score_adj
while :; do
  IFS= command read -r _corral_id <${spoolInside}/go || {
    # Above 128: interrupted by a signal that the agent traps.
    command test $? -gt 128 || exit 1
    continue
  }
  case $_corral_id in '' | *[!A-Za-z0-9_-]*) continue ;; esac
  if ! command test -e "${spoolInside}/$_corral_id.out"; then
    # Whoever makes the file first decides whether the command runs: the worker here, or the runner that gave it up.
    _corral_ran=
    set -C
    _corral_run >"${spoolInside}/$_corral_id.out" 2>"${spoolInside}/$_corral_id.err"
    _corral_rc=$?
    unset -f command
    set +aCefuvx
    command umask 022
    case $_corral_ran in 1) command echo "$_corral_rc" >"${spoolInside}/$_corral_id.rc" ;; esac
  fi
  command echo "$_corral_id" >${spoolInside}/done
done
`;
