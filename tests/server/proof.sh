#!/usr/bin/env bash
# One part of the proof of the server (PROOF.md), against a server of its own on fresh data.
#
#   proof.sh example | semantic | replay | auth | python | javascript | kill | strangers | schemathesis
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

source tools/dev/server.sh

python=$server_venv/bin/python
config=tests/data/server/clew.json
[[ $1 == auth || $1 == strangers ]] && config=tests/data/server/clew.auth.json
[[ $1 == with-embedder ]] && config=tests/data/server/clew.semantic.json
server="build/bin/clew dev --no-reload --config $config --host 127.0.0.1 --port {port} --data {data}"

with_server() {
  exec "$python" tests/server/with_server.py --server-command "$server" -- "$@"
}

check_example() {
  diff <("$python" examples/client.py "$1" | sed -E 's/[0-9a-f]{32}/ID/g; s/(.run_id.): .[-0-9a-f]+./\1/') \
    examples/expected/client.txt
}

case $1 in
  example) with_server "$0" check-example {url} ;;
  check-example) check_example "$2" ;;
  semantic) exec "$python" tests/embeddings/server.py "$0" with-embedder ;;
  with-embedder)
    export OPENAI_BASE_URL=$OPENAI_BASE_URL/good/proof OPENAI_API_KEY=none
    with_server "$python" tests/server/semantic.py --url {url}
    ;;
  replay) with_server "$python" tests/server/replay.py --url {url} ;;
  auth) with_server "$python" tests/server/replay.py --url {url} --file 16_auth.json ;;
  python) with_server "$python" tests/server/tour_python.py --url {url} ;;
  javascript) with_server "$(server_node)" tests/server/tour_js/tour.mjs --url {url} ;;
  kill) exec "$python" tests/server/kill.py --server-command "$server" ;;
  strangers) with_server "$python" tests/server/strangers.py --url {url} ;;
  schemathesis) with_server tests/server/schemathesis.sh {url} 10 fuzzing ;;
  *)
    echo "proof.sh: there is no '$1'" >&2
    exit 2
    ;;
esac
