/** Who is present, and what becomes of the environment while nobody is. */
export const presence = `timer() {
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

# Armed again, because the grace is over or a command has killed a timer, the time that has passed still counts. Whoever opened the environment has as
# long to come as an opening may take, however short the grace.
arm() {
  patience=$grace
  [ -n "$came" ] || [ "$grace" -ge 20 ] || patience=20
  stop_timers
  read -r now rest </proc/uptime
  now=\${now%%.*}
  [ -n "$alone" ] || since= away=$now
  alone=1 since=\${since:-$now}
  start_timer $((patience - now + since)) "over $watches"
  overseer=$latest
  for entry in $shells; do
    name=\${entry%:*}
    locate "$name"
    in_flight || continue
    read_limit
    start_timer $((\${limit:-$grace} - now + \${begun:-$away})) "stop $name time"
  done
}

# Whether a helper of the keeper's can do its work. Nobody but a command stops one; it is replaced as if it had been killed.
is_at_work() {
  look "$1" || return 1
  case $state in [Tt]) kill -s KILL "$1"; return 1 ;; esac
}

keep_timers() {
  for each in $timers; do
    is_at_work "$each" && continue
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
  alone= came=1
  if [ "$patience" != "$grace" ]; then
    stop_timers
    patience=$grace
    oversee
    return
  fi
  for each in $timers; do
    [ "$each" = "$overseer" ] || kill "$each"
  done
  timers=$overseer
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
  [ -z "$watcher" ] || ! is_at_work "$watcher" || return 0
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

`;
