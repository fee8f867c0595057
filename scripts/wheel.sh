#!/usr/bin/env bash
# Makes the wheel of the Python package: build/python/dist/limber_sim-*.whl.
#
# The extension and the command are targets of build/release, so what is built already is not built again;
# scikit-build-core packs them (pyproject.toml), auditwheel puts the libraries of Debian beside them. What this needs
# comes from the Python package index into a virtual environment of its own, build/python/venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=${PYTHON:-/usr/bin/python3}
jobs=${JOBS:-$(scripts/build-jobs.sh)}
venv=build/python/venv
wheels=build/python/dist

# Made again when its list changes.
if ! cmp -s python/requirements-build.txt "$venv/requirements.txt"; then
  "$python" -m venv --clear "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r python/requirements-build.txt
  cp python/requirements-build.txt "$venv/requirements.txt"
fi

# nanobind's backends for every interpreter that there is one for; the one at hand is built.
backends=build/python/backends
if ! cmp -s python/requirements-backends.txt "$backends/requirements.txt"; then
  rm -rf "$backends"
  mkdir -p "$backends/wheels"
  for version in 3.10 3.11 3.12 3.13 3.14; do
    "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
      --implementation cp --python-version "$version" --abi "cp${version/./}" --platform manylinux_2_28_x86_64 \
      -r python/requirements-backends.txt -d "$backends/wheels"
  done
  for wheel in "$backends"/wheels/*.whl; do
    "$venv/bin/python" - "$wheel" "$backends" <<'PYTHON'
import sys
import zipfile
from pathlib import Path

with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in wheel.namelist():
        if name.endswith(".so"):
            (Path(sys.argv[2]) / Path(name).name).write_bytes(wheel.read(name))
PYTHON
  done
  cp python/requirements-backends.txt "$backends/requirements.txt"
fi

rm -rf "$wheels"
mkdir -p "$wheels"
tests=OFF
if grep -qs '^LIMBER_TESTS:BOOL=ON' build/release/CMakeCache.txt; then tests=ON; fi
raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT
PATH="$PWD/$venv/bin:$PATH" LIMBER_TESTS=$tests LIMBER_BACKENDS="$PWD/$backends" \
  CMAKE_BUILD_PARALLEL_LEVEL=$jobs "$venv/bin/pip" wheel . --quiet --disable-pip-version-check --no-deps \
  --no-build-isolation --config-settings=build-dir=build/release --config-settings=cmake.args=-GNinja -w "$raw"
PATH="$PWD/$venv/bin:$PATH" "$venv/bin/python" -m auditwheel repair --strip "$raw"/limber_sim-*.whl -w "$wheels" >/dev/null 2>&1
ls -l "$wheels" | awk 'NR > 1 {printf "limber: %s, %.1f MB\n", $9, $5 / 1e6}'
