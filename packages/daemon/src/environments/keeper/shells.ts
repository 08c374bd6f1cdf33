import { mainShell } from "./site.ts";

/** Shells and their workers. `sh`: what runs a script, quoted. */
export function shells(sh: string): string {
  return `open_shell() {
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

# $2: what it says before it does anything. Where the folder that it is to work on has gone, it would do harm in another one.
start_worker() {
  [ -d "$workspace" ] || leave
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

# $4 and $5: the commands of who gave up one of them because nobody took it up. One of somebody else that runs meanwhile is spared as long as it has
# time: who sent it may be gone.
stop_shell() {
  pick "$1" $shells || return 0
  stopped=$pid hit= outcome=stopped
  locate "$1"
  ! in_flight || hit=$id
  case $4:$hit in
    :* | *: | *:"$4" | *:"$5") stop_worker "$1" "$2" ;;
    *) if has_time; then outcome=spared; else stop_worker "$1" time; fi ;;
  esac
  case $3 in '' | *[!A-Za-z0-9_-]*) return ;; esac
  [ -p "\${at}stops" ] || echo "$outcome $3" >>"\${at}stops"
  say "\${at}done" "$outcome $3"
}

has_time() {
  read_limit
  look_at_clock
  [ -z "$limit" ] || [ -z "$begun" ] || [ $((up - begun)) -lt "$limit" ]
}

stop_worker() {
  others=
  without "$1" $shells
  for each in $rest $programs; do others="$others \${each#*:}"; done
  if [ -z "$others" ]; then end_everyone; else end_others $others; fi
  replace_worker "$1" "$stopped" "$2"
  [ -z "$hit" ] || give_reason "$at$hit.rc" "$2"
}

# A worker that an agent has heed TERM in its own way may have written down how its command ended, and not why. Written over and not anew: at no moment
# is there less than there was.
give_reason() {
  [ -f "$1" ] && read -r code why <"$1" && [ -z "$why" ] || return 0
  echo "$code $2" 1<>"$1"
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

`;
}
