#!/usr/bin/env bash
# How many compilers to run at once: one a processor, but no more than memory allows at 1.5 GB each.
set -euo pipefail

jobs=$(nproc)
available_kb=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo 2>/dev/null || true)
if [[ -r /sys/fs/cgroup/memory.max ]]; then
  limit=$(cat /sys/fs/cgroup/memory.max)
  if [[ $limit != max && -n $available_kb && $((limit / 1024)) -lt $available_kb ]]; then
    available_kb=$((limit / 1024))
  fi
fi
if [[ -n $available_kb ]]; then
  by_memory=$((available_kb / 1500000))
  [[ $by_memory -lt $jobs ]] && jobs=$by_memory
fi
[[ $jobs -lt 1 ]] && jobs=1
echo "$jobs"
