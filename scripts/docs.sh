#!/usr/bin/env bash
# Makes the pages of the Python package: build/python/site/index.html, with its notebooks executed.
#
# Needs the package index once, for what is listed in python/requirements-docs.txt (build/python/docs); then no network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${PYTHON:-/usr/bin/python3}
venv=build/python/docs
[[ -n ${LIMBER_KEEP_WHEEL:-} ]] || scripts/wheel.sh
wheel=(build/python/dist/limber_sim-*.whl)
if ! cmp -s python/requirements-docs.txt "$venv/requirements.txt"; then
  "$python" -m venv --clear "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r python/requirements-docs.txt
  cp python/requirements-docs.txt "$venv/requirements.txt"
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "${wheel[0]}"
rm -rf build/python/site-source
mkdir -p build/python/site-source
cp -r docs/site/. docs/python.md build/python/site-source
PATH="$PWD/$venv/bin:$PATH" "$venv/bin/python" -P -m sphinx -q -W --keep-going -b html -d build/python/site-trees \
  build/python/site-source build/python/site
echo "limber: build/python/site/index.html"
