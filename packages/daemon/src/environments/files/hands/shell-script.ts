/**
 * The hand in the shell's own words and the tools that every system has: one request a process, words as arguments, content as input.
 * What it prints on standard error last is the reason why it failed.
 */
export const shellScript = String.raw`
main() {
  case $1 in
  stat) facts "$2" ;;
  read) read_file "$2" "$3" "$4" ;;
  write) write_file "$2" "$3" "$4" "$5" ;;
  remove) behind_links "$2" && rm -f "$(folder_of "$file")$3" ;;
  delete) same "$2" "$3" && rm -f "$2" ;;
  move) same "$2" "$4" && move_file "$2" "$3" ;;
  list) list "$2" ;;
  scan) shift && scan "$@" ;;
  esac
}

fail() {
  printf '%s\n' "$1" >&2
  exit 1
}

facts() { stat -L -c '%f %s %y' "$1"; }

regular() {
  [ ! -d "$1" ] || fail 'Is a directory'
  [ -f "$1" ] || fail 'not a regular file'
}

read_file() {
  header=$(facts "$1") || exit 1
  regular "$1"
  printf '%s\n' "$header"
  if [ "$2" = 0 ]; then head -c "$3" "$1"; else dd if="$1" bs=65536 iflag=skip_bytes,count_bytes skip="$2" count="$3" status=none; fi
}

write_file() {
  behind_links "$1"
  old=
  if [ -e "$file" ]; then
    regular "$file"
    [ -w "$file" ] || fail 'Permission denied'
    old=$(stat -c '%u:%g %a' "$file") || exit 1
  fi
  folder=$(folder_of "$file")
  make_folder "$folder"
  new=$folder$2
  umask=$(umask)
  [ -z "$old" ] || umask 077
  (set -C && : >"$new") || exit 1
  umask "$umask"
  trap 'rm -f "$new"' EXIT
  cat >"$new" || exit 1
  [ "$(wc -c <"$new")" -eq "$3" ] || fail 'cut off'
  if [ -n "$old" ]; then
    [ "$(stat -c %u:%g "$new")" = "\${old% *}" ] || chown "\${old% *}" "$new" 2>/dev/null
    chmod "\${old#* }" "$new" || exit 1
  fi
  replace "$4"
}

behind_links() {
  file=$1
  hops=0
  while [ -L "$file" ]; do
    [ $((hops += 1)) -le 40 ] || fail 'Too many levels of symbolic links'
    link=$(readlink "$file" && echo .) || exit 1
    link=\${link%??}
    case $link in
    /*) file=$link ;;
    *) file=$(folder_of "$file")$link ;;
    esac
  done
}

folder_of() {
  case $1 in
  */*) printf '%s/' "\${1%/*}" ;;
  *) printf ./ ;;
  esac
}

# Of a file that stands in the way programs say that it exists.
make_folder() {
  [ ! -d "$1" ] || return 0
  above=$1
  while [ ! -e "$above" ]; do
    case $above in
    */*) above=\${above%/*} ;;
    *) break ;;
    esac
  done
  [ ! -e "$above" ] || [ -d "$above" ] || fail 'Not a directory'
  mkdir -p "$1" || exit 1
}

replace() {
  case $1 in
  none)
    if [ -e "$file" ] || [ -L "$file" ] || ! link "$new" "$file"; then fail exists; fi
    return
    ;;
  ?*)
    [ -f "$file" ] && sum=$(sha256sum <"$file") && [ "\${sum%% *}" = "$1" ] || fail changed
    ;;
  esac
  mv -fT "$new" "$file" || exit 1
}

same() {
  facts "$1" >/dev/null || exit 1
  [ ! -L "$1" ] || fail 'not a regular file'
  regular "$1"
  [ -z "$2" ] || { sum=$(sha256sum <"$1") && [ "\${sum%% *}" = "$2" ]; } || fail changed
}

move_file() {
  folder=$(folder_of "$2")
  make_folder "$folder"
  if [ -e "$2" ] || [ -L "$2" ] || ! link "$1" "$2"; then fail exists; fi
  rm -f "$1"
}

list() {
  facts "$1" >/dev/null || exit 1
  [ -d "$1" ] || fail 'not a folder'
  cd "$1" 2>/dev/null && [ -r . ] || fail 'Permission denied'
  find . -mindepth 1 -maxdepth 1 -exec stat -c '%f %s %n' {} + 2>/dev/null
  return 0
}

scan() {
  depth=$1
  shift 2
  case $depth in
  flat) stat -L -c '%f %s %i %z %n' "$@" 2>/dev/null ;;
  deep) find -H "$@" \( -name .git -o -name node_modules \) -prune -o -exec stat -c '%f %s %i %z %n' {} + 2>/dev/null ;;
  esac
  return 0
}

main "$@"
`.replaceAll("\\${", "${");
