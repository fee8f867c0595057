#!/usr/bin/env bash
# Formats our C++ sources with clang-format, or with --check names those that would change and ends with 1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -t files < <(find src tools tests bench -type f \( -name '*.h' -o -name '*.cpp' \) \
  -not -path '*/node_modules/*' 2>/dev/null | sort)
if [[ ${1:-} == --check ]]; then
  clang-format --dry-run --Werror "${files[@]}"
  echo "limber: ${#files[@]} files are formatted"
else
  clang-format -i "${files[@]}"
fi
