import { wordMark } from "./site.ts";

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
  IFS=' ' command read -r _corral_mark _corral_id _corral_text <&9 || {
    # Above 128: interrupted by a signal that the agent traps.
    command test $? -gt 128 && continue
    # The agent may have closed it. Anything else only a new worker can mend.
    command test -p /proc/self/fd/9 && exit 1
    exec 9<>"\${_corral_at}go"
    command test -p /proc/self/fd/9 || exit 1
    continue
  }
  case $_corral_mark in ${wordMark}) ;; *) continue ;; esac
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
      # Who waits for it need not wait for the disk as well. It is believed by what the next line says, which is no command's business.
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
