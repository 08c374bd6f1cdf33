import { quoted } from "../system/quoting.ts";
import { collecting } from "./collecting.ts";
import { commands } from "./commands.ts";
import { defaultSignals } from "./env.ts";
import { presence } from "./presence.ts";
import { processes } from "./processes.ts";
import { programs } from "./programs.ts";
import { shells } from "./shells.ts";
import { beginLine, keeperFifos, type KeeperSite, mainShell, readyLine } from "./site.ts";

/**
 * The keeper is the first process of an environment. It starts the workers, which are the shells that evaluate the agent's
 * commands, and programs, and it writes down how they ended. All are POSIX sh and rest in blocking system calls.
 *
 * Invariants
 * 1. The keeper never evaluates text that an agent wrote, and as pid 1 of a namespace no signal from inside ends it.
 * 2. `ID.out` exists: the command began, or was given up before it could (then its ending is there, too). `ID.rc` ends with a newline: it is over, and this is how.
 *    An id whose `.out` exists never begins again, so telling a worker an id twice is harmless. `ID.limit` says how many seconds
 *    it has and since when by the machine's clock.
 * 3. `ID.rc` is written by the worker (`CODE`), right after it said so on `done` (`ID CODE PASS`), or, when the worker died, by the keeper
 *    (`CODE WHY`), after everything that had to end has ended. Then `ID` alone is said. To the word of a worker whose command was stopped it adds why.
 *    That a stop is done is written in `stops` and said on `done` (`stopped RECEIPT`, or `spared RECEIPT` where what ran was somebody else's), with
 *    what the one who asked for it will know it by.
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

/**
 * The keeper takes two arguments: the seconds that an idle environment waits for somebody to come back, and shell words
 * that set limits and variables for it and for all that it starts. What follows tells others whose keeper it is.
 */
export function keeperScript({ spool, workspace, scripts, shell, env, reach }: KeeperSite): string {
  const sh = [...(env === undefined ? [] : [env, defaultSignals]), ...shell].map(quoted).join(" ");
  const parts = [processes(reach), commands, presence, collecting, shells(sh), programs(sh)];
  return `
cd ${quoted(spool)} || exit 1
${reach.check}
read -r word && [ "$word" = ${beginLine} ] || exit 1
exec </dev/null
command eval "$2" 2>/dev/null
spool=${quoted(spool)} workspace=${quoted(workspace)} scripts=${quoted(scripts)}
grace=$1 interrupted= target= partial= watches=0 alone= came= patience= over= watcher= timers= overseer= shells= programs= minders= unwritten=

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

${parts.join("")}look_after() {
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
      stop) stop_shell "$2" "$3" "$4" "$5" "$6" ;;
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
