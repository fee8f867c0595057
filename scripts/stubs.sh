#!/usr/bin/env bash
# Writes python/limber/_limber.pyi, the types of the extension, from the extension as it was built last.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
package=$(mktemp -d)
trap 'rm -rf "$package"' EXIT
cp -r python/limber "$package"
cp -r build/release/python/limber/. "$package/limber"
PYTHONPATH="$package" build/python/venv/bin/python -m nanobind.stubgen -q -m limber._limber -o python/limber/_limber.pyi
