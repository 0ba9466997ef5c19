# The official clients with which the server is proved: Python's and JavaScript's.

server_venv=build/venv-server
server_modules=build/tour_js

server_clients() {
  server_python "$server_venv" tests/server/requirements.txt
  server_javascript
  server_node >/dev/null # the tests find it, and install nothing
}

# LangGraph's own server and clients, to measure beside.
server_rival() {
  ensure_packages server-bench
  server_python build/venv-server-bench tests/server/requirements.txt bench/server/requirements.txt
}

# server_python FOLDER REQUIREMENTS...: makes the environment anew only when the requirements have changed.
server_python() {
  local folder=$1 stamp=$1/requirements.sha256 wanted python file files=()
  shift
  wanted=$(sha256sum "$@")
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]] && "$folder/bin/python" -c '' 2>/dev/null; then return; fi

  ensure_python
  python=$(usable_python)
  for file in "$@"; do files+=(-r "$file"); done
  rm -rf "$folder"
  stage server venv "$python" -m venv "$folder"
  stage server requirements "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "${files[@]}"
  echo "$wanted" >"$stamp"
}

# Modules land in the build folder, never beside the sources.
server_javascript() {
  local lock=tests/server/tour_js/package-lock.json
  if cmp -s "$lock" "$server_modules/package-lock.json" && [[ -d $server_modules/node_modules ]]; then return; fi

  command -v npm >/dev/null || ensure_packages javascript
  mkdir -p "$server_modules"
  cp tests/server/tour_js/package.json "$lock" "$server_modules"
  stage server modules npm ci --prefix "$server_modules" --no-audit --no-fund
}

# The Node.js that runs the tour. Version 1.12.0 of the client needs 20.19; Debian 12 has 18, so the registry's is taken there.
server_node() {
  local release=20.19.5 machine=x64 folder=build/node
  if node_is_new_enough; then
    command -v node
    return
  fi
  [[ $(uname -m) == aarch64 ]] && machine=arm64
  [[ -x $folder/node_modules/node-linux-$machine/bin/node ]] ||
    stage server node npm install --prefix "$folder" --no-audit --no-fund "node-linux-$machine@$release" >&2
  echo "$folder/node_modules/node-linux-$machine/bin/node"
}

node_is_new_enough() {
  node -e 'const [major, minor] = process.versions.node.split("."); process.exit(major > 20 || (major == 20 && minor >= 19) ? 0 : 1)' 2>/dev/null
}
