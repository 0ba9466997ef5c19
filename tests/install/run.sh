#!/usr/bin/env bash
# Installs a build of Clew and uses it as a stranger would: by CMake and by pkg-config.
# usage: run.sh BUILD_DIRECTORY COMPILER
set -euo pipefail

build=$1
compiler=$2
consumer=$(cd "$(dirname "$0")" && pwd)/consumer
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

expect_output() {
  local got
  got=$("$1")
  [[ $got == '{"foo":"a","bar":[1,2]}' ]] || { echo "$1 printed: $got" >&2; exit 1; }
}

cmake --install "$build" --prefix "$work/installed"
# A prefix must be movable, so the build directory or the first place may not be baked in.
mv "$work/installed" "$work/prefix"

echo "== find_package"
cmake -G Ninja -S "$consumer" -B "$work/cmake" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$work/prefix"
cmake --build "$work/cmake"
expect_output "$work/cmake/consumer"
[[ $("$work/cmake/served") == *"serving greeter"* ]] || { echo "a program with a server of its own does not serve" >&2; exit 1; }

echo "== what the program tells of itself"
for file in man/man1/clew.1 bash-completion/completions/clew zsh/site-functions/_clew; do
  [[ -s $work/prefix/share/$file ]] || { echo "share/$file is not installed" >&2; exit 1; }
done

echo "== clew new"
cd "$work"
"$work/prefix/bin/clew" new agent
cd agent
CXX=$compiler CMAKE_PREFIX_PATH=$work/prefix cmake --workflow --preset release
"$work/prefix/bin/clew" dev --port 0 >"$work/server.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in {1..100}; do
  url=$(sed -n 's/^ready at //p' "$work/server.log")
  [[ -n $url ]] && break
  sleep 0.1
done
answer=$(curl -sS "$url/runs/wait" -d '{"assistant_id": "agent", "input": {"messages": ["hi"]}}')
[[ $answer == *"You said: hi"* ]] || { echo "the new project answered: $answer" >&2; cat "$work/server.log" >&2; exit 1; }
kill -TERM "$server"
wait "$server"

echo "== pkg-config"
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name clew.pc)")
read -ra cflags <<<"$(pkg-config --cflags clew-embeddings clew-sqlite)"
read -ra libs <<<"$(pkg-config --static --libs clew-embeddings clew-sqlite)"
"$compiler" -std=c++20 "${cflags[@]}" "$consumer/main.cpp" -o "$work/consumer" "${libs[@]}"
expect_output "$work/consumer"
