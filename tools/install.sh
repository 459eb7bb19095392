#!/usr/bin/env bash
# Make the virtual environment: pinned versions with hashes from requirements.lock, then the workspace members, editable.
set -euo pipefail
venv=${VENV:-.venv}
python=${PYTHON:-python3}

if ! command -v "$python" >/dev/null; then
  echo "eunoe needs Python 3.11, 3.12 or 3.13; '$python' was not found. Install it, or set PYTHON=/path/to/python3." >&2
  exit 2
fi
"$python" - <<'PY' || { echo "eunoe needs Python 3.11, 3.12 or 3.13; set PYTHON=/path/to/one of them." >&2; exit 2; }
import sys
sys.exit(not ((3, 11) <= sys.version_info[:2] <= (3, 13)))
PY

if [ ! -x "$venv/bin/python" ]; then
  if ! "$python" -m venv "$venv" 2>/tmp/eunoe-venv.log; then
    rm -rf "$venv"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
      apt-get update -qq && apt-get install -qq -y python3-venv >/dev/null
      "$python" -m venv "$venv"
    else
      cat /tmp/eunoe-venv.log >&2
      echo "Python cannot make a virtual environment: install the package python3-venv (needs root), then run make again." >&2
      exit 2
    fi
  fi
fi

if [ ! -x "$venv/bin/uv" ]; then
  echo "Installing the installer ..."
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r <(
    awk '/^uv==/ {on=1} on {print} on && !/\\$/ {exit}' requirements.lock
  )
fi
echo "Installing the pinned dependencies ..."
# Compiled now: uv leaves that to the first import, and where PYTHONDONTWRITEBYTECODE is set it would be done at every start (a second).
"$venv/bin/uv" pip sync --quiet --compile-bytecode --python "$venv/bin/python" --require-hashes requirements.lock
echo "Installing the workspace ..."
editable=()
for member in "$@"; do editable+=(-e "$member"); done
"$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation "${editable[@]}"
"$venv/bin/python" -m compileall -q "$@"
