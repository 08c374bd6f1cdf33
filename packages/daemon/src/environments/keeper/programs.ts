/** Programs, each with its pipes and a minder that ends it when its owner has gone. `sh`: what runs a script, quoted. */
export function programs(sh: string): string {
  return `become_program() {
  go_first
  cd "$workspace" || exit 126
  unset OLDPWD
  exec ${sh} "$spool/$1.program"
}

start_program() {
  ! pick "$1" $programs || return 0
  name=$1 pid= minder=
  command eval 'mkfifo -m 600 "$name.stdin" "$name.stdout" "$name.stderr" "$name.life"' &&
    command eval 'become_program "$name" 7<&- 8<&- 9<&- <"$name.stdin" >"$name.stdout" 2>"$name.stderr" & pid=$!'
  if [ -z "$pid" ]; then
    echo 126 >"$name.ended"
    say words "ended $name"
    return
  fi
  programs="$programs $name:$pid"
  command eval '{ exec 7<&- 8<&- 9<&-; go_first; mind_owner "$name"; } & minder=$!'
  # One that nobody could mind is not begun with.
  if [ -z "$minder" ]; then
    end_tree "$pid"
    return
  fi
  minders="$minders $name:$minder"
  say words "made $name"
}

# Its owner holds "life" open, and with it the program lives.
mind_owner() {
  while read -r word; do :; done <"$1.life"
  tell "end $1"
}

end_program() {
  ! pick "$1" $programs || end_tree "$pid"
}

end_tree() {
  find_trees "$1"
  first=$found
  ask_to_end
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
  # Whoever asked is told when they have gone, and not when they were to go.
  n=0
  for each in $found; do
    while [ $n -lt 200 ] && runs "$each"; do
      n=$((n + 1))
      nap
    done
  done
}

settle_program() {
  collect "$2"
  write_down "$1.ended" "$status"
  without "$1" $programs
  programs=$rest
  ! pick "$1" $minders || kill "$pid"
  without "$1" $minders
  minders=$rest
  say words "ended $1"
}

`;
}
