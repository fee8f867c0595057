#!/usr/bin/env python3
"""Prints how long each test took when it last ran, longest first: test_times.py BUILD [ROWS]."""

import sys
from pathlib import Path

costs = Path(sys.argv[1]) / "Testing/Temporary/CTestCostData.txt"
if not costs.exists():
    sys.exit("limber: no tests have run here yet: make test")
rows = []
for line in costs.read_text().split("\n"):
    if line.startswith("---"):
        break
    name, runs, seconds = (line.rsplit(" ", 2) + ["", ""])[:3]
    if seconds and int(runs) > 0:
        rows.append((float(seconds), name))
rows.sort(reverse=True)
total = sum(seconds for seconds, _ in rows)
print(f"{len(rows)} tests, {total:.0f} s one after the other")
print(f"{'seconds':>8}  {'share':>6}  test")
for seconds, name in rows[: int(sys.argv[2]) if len(sys.argv) > 2 else 25]:
    print(f"{seconds:8.2f}  {100 * seconds / max(total, 1e-9):5.1f}%  {name}")
