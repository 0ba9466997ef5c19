#!/usr/bin/env bash
# Sends generated requests to every operation of a server's OpenAPI document: none may be answered with a 5xx.
#
#   schemathesis.sh URL [EXAMPLES per operation, default 40] [further options of schemathesis]
#
# Streams that never end are left out: a generated request would wait for ever. They have tests of their own.
set -euo pipefail

url=${1:?usage: schemathesis.sh URL [EXAMPLES] [options]}
examples=${2:-40}
bin=${SCHEMATHESIS:-build/venv-server/bin/schemathesis}

exec "$bin" run "$url/openapi.json" --url "$url" \
  --checks not_a_server_error --phases examples,coverage,fuzzing --max-examples "$examples" \
  --request-timeout 20 --workers 2 --seed 1 --continue-on-failure --suppress-health-check all \
  --exclude-path-regex '^/(mcp|a2a)|/stream($|/)|/commands$' \
  "${@:3}"
