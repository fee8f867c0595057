#!/usr/bin/env python3
"""Work and precision of limber beside other programs, in one run, CPU time, one thread (docs/peers.md).

    make peers                                                         the environment, and all cases
    build/peers/venv/bin/python scripts/peers/peers.py --only bricard  one case

Writes build/peers/peers.md (the table) and build/peers/curves.json (error and time at every step tried)."""

import argparse
import dataclasses
import datetime
import importlib
import json
import os
import platform
import traceback
from pathlib import Path

from measure import ROOT, Limber, one_thread

CASES = ("four_bar", "bricard", "trees", "thread", "cantilever", "contact")


def number(x):
    return f"{x:.3g}" if x < 1000 else f"{x:,.0f}"


def cell(f, unit):
    return f"{number(f.value)} {unit}" + (f" ({f.detail})" if f.detail else "")


def table(rows):
    lines = ["| work | peer | its figure | limber | ratio | spread: its, limber's |", "|---|---|---|---|---|---|"]
    for r in rows:
        ratio = f"{r.ratio:.2g}" if r.ratio < 100 else f"{r.ratio:.0f}"
        lines.append(f"| {r.work} | {r.peer} | {cell(r.theirs, r.unit)} | {r.ours_by}: {cell(r.ours, r.unit)} | "
                     f"{ratio if r.ratio >= 1 else f'**{ratio}**'} | +{100 * r.theirs.spread:.0f} %, +{100 * r.ours.spread:.0f} % |")
    return "\n".join(lines)


def processor():
    names = [line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return f"{names[0]}, {len(names)} cores" if names else platform.processor()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--limber", default=ROOT / "build/release/limber", help="the command to measure")
    p.add_argument("--turns", type=int, default=5, help="of each measurement")
    p.add_argument("--only", nargs="+", choices=CASES, default=CASES)
    p.add_argument("--thread-integrator", help="of method thread (default: limber's)")
    p.add_argument("--out", type=Path, default=ROOT / "build/peers")
    args = p.parse_args()
    limber, args.out = Limber(Path(args.limber).resolve()), args.out.resolve()
    os.chdir(limber.folder)  # for what the others log
    rows, curves, failed = [], [], []
    for name in args.only:
        print(f"peers: {name}", flush=True)
        try:
            options = [args.thread_integrator] if name == "thread" else []
            more, drawn = importlib.import_module(name).rows(limber, args.turns, *options)
        except Exception as e:  # a case that fails is named; the others are measured
            traceback.print_exc()
            failed.append(f"- {name}: not measured, {type(e).__name__}: {e}".splitlines()[0])
            continue
        rows += more
        curves += drawn
        print(table(more), flush=True)
    args.out.mkdir(parents=True, exist_ok=True)
    head = (f"{datetime.date.today()}, {limber.version}, {processor()}. CPU time, one thread, the middle of {args.turns} turns; "
            "spread: how far it is above the least. Ratio: its figure over limber's; bold: limber is behind.")
    (args.out / "peers.md").write_text("\n".join([head, "", table(rows), *([""] + failed if failed else [])]) + "\n", encoding="utf-8")
    (args.out / "curves.json").write_text(json.dumps([dataclasses.asdict(c) for c in curves], indent=1), encoding="utf-8")
    print(f"peers: wrote {args.out / 'peers.md'} and curves.json")
    return 1 if failed else 0


if __name__ == "__main__":
    one_thread()  # before numpy is loaded
    raise SystemExit(main())
