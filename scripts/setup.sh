#!/bin/sh
# Sets up a checkout: dependencies with a Node of their own (npm ci), then the system's programs.
# Prints nothing and reaches no network when all is there. Never asks. Fails only when npm cannot install.
# With --for-tests also the programs that only tests need.
#
# 1. The stamp is written last and lives in node_modules, which npm ci empties first: what was interrupted
#    has no stamp and is done again.
# 2. One set-up at a time. A claim is a symbolic link whose target names its holder, so it is made whole in one step.
# 3. A dead holder's claim is removed only by the holder of the claim on that removal, so nobody ever removes the
#    claim of a living one.
# 4. npm's process has a claim of its own: one left over from a killed set-up is waited for, not raced.

root=$(cd -P -- "$(dirname -- "$0")/.." && pwd) || exit 1
stamp=$root/node_modules/.corral-setup
claim=$root/.corral-setup.lock
npm_claim=$root/.corral-setup.npm
npm_logs=$root/.corral-setup.logs
for_tests=

main() {
  cd "$root" || exit 1
  if dependencies_are_there && [ -z "$(missing_programs)" ]; then exit 0; fi
  if [ ! -w . ]; then set_up_unwritable; exit; fi
  trap 'release "$claim"; exit 130' INT
  trap 'release "$claim"; exit 143' TERM HUP
  take "$claim"
  # Whoever held the claim before may have done all of it, so everything is looked at anew.
  dependencies_are_there || install_dependencies || { release "$claim"; exit 1; }
  [ -z "$(missing_programs)" ] || install_programs
  write_stamp
  release "$claim"
}

set_up_unwritable() {
  if dependencies_are_there; then
    install_programs
  else
    say "$root is not set up, and user $(id -u) may not write there. Run ./corral once as its owner."
    return 1
  fi
}

say() { printf 'corral: %s\n' "$*" >&2; }

# ---- dependencies

# The stamp has the time and the checksum of the lock file it was made for. Equal times say enough; otherwise
# the content decides, and an equal content gets a new stamp so that the next start is quick again.
dependencies_are_there() {
  [ -x node_modules/.bin/node ] && [ -f "$stamp" ] || return 1
  if [ ! package-lock.json -nt "$stamp" ] && [ ! package-lock.json -ot "$stamp" ]; then return 0; fi
  [ "$(cat "$stamp")" = "$(checksum)" ] || return 1
  write_stamp
}

checksum() { cksum <package-lock.json; }

# A stamp that cannot be written costs the next start a checksum, nothing more.
write_stamp() {
  { checksum >"$stamp.$$" && touch -r package-lock.json "$stamp.$$" && mv -f "$stamp.$$" "$stamp"; } 2>/dev/null || :
}

install_dependencies() {
  if ! command -v npm >/dev/null 2>&1; then
    say "npm is missing. Install Node.js 20 or newer together with npm; from there on Corral brings its own Node."
    return 1
  fi
  say "installing dependencies with npm ci (about half a minute, once for each version)"
  rm -rf "$npm_logs"
  sh "$root/scripts/setup.sh" --become-npm >&2 </dev/null || { explain_npm_failure; return 1; }
  rm -rf "$npm_claim" "$npm_logs"
  link_node && return 0
  say "npm brought no Node that runs on this machine ($(uname -sm)). Corral runs on Linux with glibc and on macOS, x64 and arm64."
  return 1
}

# Four packages carry a bin called node, one for each platform. npm 10 drops the link of the one it kept together
# with those of the others.
link_node() {
  for node in node_modules/.bin/node node_modules/node-*/bin/node; do
    "$node" --version >/dev/null 2>&1 || continue
    [ "$node" = node_modules/.bin/node ] || ln -sf "../${node#node_modules/}" node_modules/.bin/node
    return
  done
  return 1
}

# Settings that an npm around this one, or the user's own, would hand down must not thin out what is installed.
become_npm() {
  cd "$root" || exit 1
  unset npm_config_workspace npm_config_workspaces npm_config_include_workspace_root
  take "$npm_claim"
  exec npm ci --loglevel=error --no-update-notifier --include=dev --include=optional --no-engine-strict \
    --prefer-offline --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --logs-dir="$npm_logs"
}

explain_npm_failure() {
  case $(sed -n 's/^[0-9]* error code //p' "$npm_logs"/* 2>/dev/null | tail -n 1) in
    ENOTFOUND | EAI_AGAIN | ECONN* | ENET* | EHOST* | E*TIMEDOUT | E*TIMEOUT | ENOTCACHED | FETCH_ERROR)
      advice="npm cannot reach its registry. Connect to the network, or set a registry or proxy in your ~/.npmrc" ;;
    EUSAGE) advice="package.json and package-lock.json disagree. Restore them with git, or bring them in step with npm install" ;;
    EACCES | EPERM | EROFS) advice="npm may not write here. See who owns $root and npm's cache" ;;
    ENOSPC) advice="The disk is full. Corral's dependencies need about half a gigabyte" ;;
    *) advice="npm ci failed; its own message is above" ;;
  esac
  rm -f "$npm_claim"
  say "$advice. Then run this again: it starts over cleanly."
}

# ---- the system's programs

# program, package (the same name for apt, dnf, pacman and brew), what Corral needs it for
programs() {
  case $(uname -s) in
    Darwin) ;;
    *) echo "bwrap bubblewrap jails"; [ -z "$for_tests" ] || test_programs ;;
  esac
  echo "git git workspaces"
  echo "rg ripgrep search"
  echo "tmux tmux terminals"
}

test_programs() {
  echo "strace strace one test"
  echo "chromium chromium the dashboard's stories"
  # The tests' own engine runs as root; elsewhere, and for others, its tests say that they are skipped.
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "podman podman containers"
    echo "runc runc containers"
  fi
}

missing_programs() {
  programs | while read -r program package purpose; do
    command -v "$program" >/dev/null 2>&1 || echo "$package $purpose"
  done
}

missing_packages() { missing_programs | cut -d ' ' -f 1 | tr '\n' ' ' | sed 's/ $//'; }

install_programs() {
  if can_install_with_apt; then
    say "installing with apt-get: $(missing_packages)"
    apt_install
  fi
  [ -z "$(missing_programs)" ] || name_missing
}

can_install_with_apt() {
  [ "${CORRAL_NO_SYSTEM_PACKAGES:-}" != 1 ] && command -v apt-get >/dev/null 2>&1 || return 1
  as_root=
  [ "$(id -u)" = 0 ] && return 0
  as_root="sudo -n"
  command -v sudo >/dev/null 2>&1 && sudo -n true >/dev/null 2>&1 </dev/null
}

# Package lists are fetched only when installing fails without; a package the system does not know must not keep
# the others away.
apt_install() {
  # shellcheck disable=SC2046 # one word for each package
  set -- $(missing_packages)
  apt_get install --no-install-recommends "$@" && return
  apt_get update
  apt_get install --no-install-recommends "$@" && return
  printf '%s\n' "$apt_output" >&2
  for package; do apt_get install --no-install-recommends "$package"; done
}

apt_get() {
  # shellcheck disable=SC2086 # empty for root
  apt_output=$($as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a \
    apt-get -y -q -o DPkg::Lock::Timeout=120 "$@" 2>&1 </dev/null)
}

name_missing() {
  say "not installed: $(missing_programs | sed 's/\([^ ]*\) \(.*\)/\1 (for \2)/' | paste -s -d , - | sed 's/,/, /g'). To install: $(install_command)"
}

install_command() {
  set -- "$(missing_packages)"
  if command -v apt-get >/dev/null 2>&1; then echo "sudo apt-get install -y $1"
  elif command -v dnf >/dev/null 2>&1; then echo "sudo dnf install -y $1"
  elif command -v pacman >/dev/null 2>&1; then echo "sudo pacman -S --needed $1"
  elif command -v brew >/dev/null 2>&1; then echo "brew install $1"
  else echo "your system's package manager, packages $1"
  fi
}

# ---- claims

# Waits until the claim is ours. Runs in a subshell for a dead holder's claim, for sh has no local variables.
take() {
  told=
  failures=0
  until ln -s "$(identity $$)" "$1" 2>/dev/null; do
    if ! holder=$(readlink "$1"); then
      failures=$((failures + 1))
      [ "$failures" -lt 20 ] || { say "cannot make $1. Is the disk full?"; exit 1; }
    elif [ "$holder" = "$(identity $$)" ]; then
      return
    elif ! is_alive "$holder"; then
      (remove_dead "$1" "$holder")
    else
      [ -n "$told" ] || say "waiting for the set-up that process ${holder%.*} is doing"
      told=1
      sleep 0.2
    fi
  done
}

remove_dead() {
  take "$1.$2"
  [ "$(readlink "$1")" != "$2" ] || rm -f "$1"
  release "$1.$2"
}

release() { [ "$(readlink "$1")" != "$(identity $$)" ] || rm -f "$1"; }

# A process number together with its start time, where the system tells it, for numbers are used again. A process
# that ended and was not yet collected has no start time here.
identity() { echo "$1.$(start_time "$1")"; }

start_time() {
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
  # shellcheck disable=SC2086 # split into its fields; the program's name may hold anything but comes before the last ")"
  set -- ${stat##*) }
  [ "$1" = Z ] || echo "${20}"
}

# kill -0 also fails for another user's process.
is_alive() {
  kill -0 "${1%.*}" 2>/dev/null || [ -d "/proc/${1%.*}" ] || ps -p "${1%.*}" >/dev/null 2>&1 || return 1
  [ "$(start_time "${1%.*}")" = "${1#*.}" ]
}

case ${1-} in
  --become-npm) become_npm ;;
  --for-tests) for_tests=1; main ;;
  *) main ;;
esac
