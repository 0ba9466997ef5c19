#!/usr/bin/env bash
# Sends generated requests to every operation of a server's OpenAPI document: none may be answered with a 5xx.
#
#   schemathesis.sh URL [EXAMPLES per operation, default 40] [PHASES, default examples,coverage,fuzzing] [options of schemathesis]
#
# The coverage phase takes minutes, so the tests leave it out.
# Streams that never end are left out: a generated request would wait for ever. They have tests of their own.
set -euo pipefail

url=${1:?usage: schemathesis.sh URL [EXAMPLES] [PHASES] [options]}
examples=${2:-40}
phases=${3:-examples,coverage,fuzzing}
bin=${SCHEMATHESIS:-build/venv-server/bin/schemathesis}

export HYPOTHESIS_STORAGE_DIRECTORY=build/hypothesis
exec "$bin" run "$url/openapi.json" --url "$url" \
  --checks not_a_server_error --phases "$phases" --max-examples "$examples" \
  --request-timeout 20 --workers 1 --seed 1 --continue-on-failure --suppress-health-check all \
  --exclude-path-regex '^/(mcp|a2a)|/stream($|/)|/commands$' \
  "${@:4}"
