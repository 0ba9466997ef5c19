# A stage is one line on the screen, and a log with all the rest.

logs=build/logs
mkdir -p "$logs"

fail() {
  echo "dev: $*" >&2
  exit 1
}

# stage NAME SUBJECT COMMAND...: ends the script if the command fails.
stage() {
  try_stage "$@" || exit 1
}

try_stage() {
  local log=$logs/$1-$2.log began=$SECONDS status=0
  begin_line "$1" "$2"
  "${@:3}" >"$log" 2>&1 || status=$?
  end_line "$status" "$began"
  if ((status)); then
    show_reason "$log"
    echo "log: $log"
  fi
  return "$status"
}

begin_line() {
  printf '[%s] %s ... ' "$1" "$2"
}

end_line() {
  local outcome=""
  if (($1)); then outcome="failed after "; fi
  echo "$outcome$((SECONDS - $2))s"
}

# The first failed step of a build, or else the end of the log.
show_reason() {
  local first
  first=$(grep -n -m 1 -E '^FAILED:|^CMake Error' "$1" | cut -d : -f 1) || true
  if [[ -n $first ]]; then
    sed -n "$first,$((first + 40))p" "$1" | cut -c -400
  else
    tail -n 30 "$1" | cut -c -400
  fi
}
