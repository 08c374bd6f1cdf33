import { mainShell, shellPrefix } from "./site.ts";

/** Which command is in flight, and how one is written down that is over. */
export const commands = `locate() {
  case $1 in ${mainShell}) at=./ ;; *) at=./${shellPrefix("$1")} ;; esac
}

# Sets "id" to the command of the shell at "at" that has begun and not ended. One that has no file for its errors was given up by who had no room to
# write that down, or its worker died at that moment: it counts where there is no other.
in_flight() {
  unbegun=
  for out in "$at"*.out; do
    id=\${out#"$at"} id=\${id%.out}
    [ -f "$out" ] || continue
    case $id in *[!A-Za-z0-9_-]*) continue ;; esac
    case $unwritten in *" $at$id.rc:"*) continue ;; esac
    [ -f "$at$id.rc" ] && read -r seen <"$at$id.rc" && continue
    [ ! -e "$at$id.err" ] || return 0
    unbegun=$id
  done
  id=$unbegun
  [ -n "$id" ]
}

# Sets "limit" and "begun" to how many seconds the command "id" has, and since when by the machine's clock; empty where that is not written.
read_limit() {
  limit= begun=
  [ ! -f "$at$id.limit" ] || { read -r limit; read -r begun; } <"$at$id.limit"
  case $limit in *[!0-9]*) limit= ;; esac
  case $begun in *[!0-9]*) begun= ;; esac
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

`;
