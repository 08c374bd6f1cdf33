/** How processes ended, and lists of them by name. */
export const collecting = `# Sets "status" to how a process has ended. A signal interrupts the wait; the true status comes with a later one, and then 127 for ever.
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

`;
