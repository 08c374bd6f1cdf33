import type { KeeperReach } from "./site.ts";

/** Who runs in the environment, and how they are ended: everyone, all but some, or a tree. */
export function processes(reach: KeeperReach): string {
  return `signal_everyone() {
  ${reach.signalEveryone}
}

list_everyone() {
  ${reach.listEveryone}
}

# Whether it runs: a zombie that nobody collected yet has ended. A name may look like anything, so fields count from its end.
look() {
  read -r line <"/proc/$1/stat" || return 1
  line=\${line##*) } state=\${line%% *}
  case $state in [ZX]) return 1 ;; esac
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

# Sets "up" to a clock in seconds; rounds are counted too, for a round may take long and a clock may be missing. And after a few rounds only does the
# clock count: on a machine that stood still everybody else has had no more time than the keeper.
look_at_clock() {
  up=0
  read -r up rest </proc/uptime
  up=\${up%.*}
}

# Tells those in "found" to end. They are all halted before the first one hears of it: who saw a child end before itself would go on with what comes next.
ask_to_end() {
  kill -s STOP $found
  kill -s TERM $found
  kill -s CONT $found
}

end_everyone() {
  signal_everyone STOP
  signal_everyone TERM
  signal_everyone CONT
  n=0
  look_at_clock
  started=$up
  while [ $n -lt 80 ] && { [ $n -lt 5 ] || [ $((up - started)) -lt 3 ]; } && signal_everyone 0; do
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
  timers= minders=
}

# Sets "found" to everyone who belongs neither to the keeper nor to one of the processes named.
find_others() {
  list_everyone
  spared=" $watcher $timers $* "
  for each in $minders; do spared="$spared\${each#*:} "; done
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
  [ -z "$found" ] || ask_to_end
  n=0
  look_at_clock
  started=$up
  while [ $n -lt 60 ] && { [ $n -lt 5 ] || [ $((up - started)) -lt 2 ]; } && [ -n "$found" ]; do
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

`;
}
