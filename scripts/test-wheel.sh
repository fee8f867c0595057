#!/usr/bin/env bash
# Tests the wheel as a user has it: installed from build/python/dist into an environment of its own, build/python/test.
# With --if-possible: a line and success where the package index cannot be reached.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if_possible=0
if [[ ${1:-} == --if-possible ]]; then if_possible=1; shift; fi
python=${PYTHON:-/usr/bin/python3}
venv=build/python/test

reachable() { # the index answers, or what it has is here already
  local probe
  probe=$(mktemp -d)
  "$python" -c "import ensurepip, venv" >/dev/null 2>&1 &&
    "$python" -m pip --version >/dev/null 2>&1 &&
    "$python" -m pip download --quiet --disable-pip-version-check --retries 1 --timeout 10 --no-deps -d "$probe" iniconfig==2.3.1 >/dev/null 2>&1
  local status=$?
  rm -rf "$probe"
  return $status
}

if [[ $if_possible -eq 1 ]] && ! reachable; then
  echo "limber: the Python package is not tested: the package index cannot be reached (make python)"
  exit 0
fi

scripts/wheel.sh
wheel=(build/python/dist/limber_sim-*.whl)
if ! cmp -s python/requirements-test.txt "$venv/requirements.txt"; then
  "$python" -m venv --clear "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r python/requirements-test.txt
  cp python/requirements-test.txt "$venv/requirements.txt"
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "${wheel[0]}"
# Not from the checkout: what is tested is what was installed.
LIMBER_WHEEL="$PWD/${wheel[0]}" "$venv/bin/python" -P -m pytest -c pyproject.toml --rootdir . python/tests "$@"
