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

echo "== clew new"
cd "$work"
"$work/prefix/bin/clew" new agent
cd agent
CXX=$compiler CMAKE_PREFIX_PATH=$work/prefix cmake --workflow --preset release
[[ -f build/libagent.so ]] || { echo "clew new made a project that builds no libagent.so" >&2; exit 1; }

echo "== pkg-config"
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name clew.pc)")
read -ra cflags <<<"$(pkg-config --cflags clew-embeddings clew-sqlite)"
read -ra libs <<<"$(pkg-config --static --libs clew-embeddings clew-sqlite)"
"$compiler" -std=c++20 "${cflags[@]}" "$consumer/main.cpp" -o "$work/consumer" "${libs[@]}"
expect_output "$work/consumer"
