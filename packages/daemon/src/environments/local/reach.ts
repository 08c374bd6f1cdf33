import type { EnvironmentId } from "@corral/protocol";
import type { KeeperReach } from "../keeper/index.ts";
import { quoted } from "../system/quoting.ts";

/** The variable that every process of a local environment is born with. */
export const marker = "CORRAL_ENVIRONMENT";

/**
 * Without a namespace, those belong to the keeper who carry its marker, are in its session, or descend from one who does.
 * Who sheds all three escapes: that is the weaker promise of a local environment. The keeper leads its session, else it
 * ends at once: in the session of somebody else it would take strangers for its own.
 */
export function reachOfMarker(id: EnvironmentId): KeeperReach {
  return {
    check: `
read -r line <"/proc/$$/stat" || exit 1
line=\${line##*) } line=\${line#* } line=\${line#* } line=\${line#* }
[ "\${line%% *}" = "$$" ] && [ "$${marker}" = ${quoted(id)} ] || exit 1

# Timers and the watch signal the keeper by its number, which is its own only as long as they are its children.
kill() {
  for m_last in "$@"; do :; done
  if [ "$m_last" = "$$" ]; then
    read -r m_stat </proc/self/stat || exit
    m_stat=\${m_stat##*) } m_stat=\${m_stat#* }
    [ "\${m_stat%% *}" = "$$" ] || exit
  fi
  command kill "$@"
}`,
    listEveryone: `
  all= m_pool= m_members=" $$ " m_ifs=$IFS IFS='
'
  set -f
  # Read all at once: it has to be quick where there are many. What a name may pretend here is looked at again below.
  for line in $(set +f; cat /proc/[0-9]*/stat); do
    m_pid=\${line%% *} line=\${line##*) }
    case $line in [ZX]*) continue ;; esac
    line=\${line#* } parent=\${line%% *}
    m_pool="$m_pool $m_pid:$parent"
    line=\${line#* } line=\${line#* }
    [ "\${line%% *}" != "$$" ] || ! look "$m_pid" || {
      line=\${line#* } line=\${line#* }
      [ "\${line%% *}" != "$$" ] || m_members="$m_members$m_pid "
    }
  done
  set +f
  IFS=$m_ifs
  for each in $(grep -lzx ${quoted(`${marker}=${id}`)} /proc/[0-9]*/environ); do
    each=\${each#/proc/}
    m_members="$m_members\${each%%/*} "
  done
  m_grew=1
  while [ -n "$m_grew" ]; do
    m_grew=
    for each in $m_pool; do
      case $m_members in *" \${each%:*} "*) continue ;; esac
      case $m_members in
        *" \${each#*:} "*)
          look "\${each%:*}" && [ "$parent" = "\${each#*:}" ] && m_members="$m_members\${each%:*} " m_grew=1 ;;
      esac
    done
  done
  for each in $m_pool; do
    case $m_members in *" \${each%:*} "*) all="$all $each" ;; esac
  done`,
    signalEveryone: `
  m_round=0 m_anyone=1
  while [ $m_round -lt 10 ]; do
    m_round=$((m_round + 1)) m_targets=
    list_everyone
    for each in $all; do
      case \${each%:*} in "$$") ;; *) m_targets="$m_targets \${each%:*}" ;; esac
    done
    [ -n "$m_targets" ] || break
    m_anyone=0
    [ "$1" != 0 ] || break
    kill -s "$1" $m_targets
    # Nobody who is ended may have started somebody in the meantime.
    [ "$1" = KILL ] || break
  done
  return $m_anyone`,
  };
}
