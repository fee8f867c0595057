#!/usr/bin/python3
"""The agreement machine: scenes drawn at random, answers that must agree, none by a guessed tolerance.

    agree.py [N] [--minutes M] [--seed S] [--family NAME] [--jobs J] [--keep FOLDER] [--limber PATH]
    agree.py --corpus FOLDER        scenes that failed once, each by its own check

docs/agreement.md says what is checked and why. A scene that fails is made smaller and kept, with what disagreed.
"""

import argparse
import collections
import contextlib
import json
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

import draw
import families
import shrink
import text
from machine import Disagreement, Failed, Machine, Refused, Unclear


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=10000, help="scenes a family")
    parser.add_argument("--limber", type=Path, default=Path(__file__).resolve().parents[2] / "build/release/limber")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop then, families taking turns")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first scene")
    parser.add_argument("--family", choices=list(families.FAMILIES), action="append")
    parser.add_argument("--corpus", type=Path, help="run the scenes of this folder instead")
    parser.add_argument("--keep", type=Path, default=Path("agree-failures"), help="folder for scenes that fail")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--jobs", type=int, default=1, help="processes; the scenes are the same")
    a = parser.parse_args()
    with memory_folder() as folder, contextlib.closing(machine_in(folder, a.limber)) as machine:
        return run_corpus(machine, a.corpus) if a.corpus else campaign(machine, a)


@contextlib.contextmanager
def memory_folder():
    with tempfile.TemporaryDirectory(prefix="limber-agree-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        yield Path(folder)


def machine_in(folder, limber):
    """With the fork server that was built with this limber, if any."""
    library = limber.resolve().parent / "tests/agree/liblimber_fork_server.so"
    return Machine(limber.resolve(), folder, library if library.exists() else None)


def verdict(machine, family, case):
    """What became of a case: agrees, refused, failed, unclear or the disagreement; and why."""
    try:
        families.FAMILIES[family][1](machine, case)
    except Refused as e:
        return "refused", e
    except Failed as e:
        return "failed", e
    except Unclear as e:
        return "unclear", e
    except Disagreement as e:
        return "disagrees", e
    return "agrees", None


class Tally:
    def __init__(self):
        self.counts = collections.defaultdict(collections.Counter)
        self.kinds = collections.Counter()
        self.reasons = collections.Counter()
        self.runs = 0
        self.begin = time.monotonic()

    def count(self):
        return sum(c.total() for c in self.counts.values())

    def line(self):
        n = self.count()
        seconds = time.monotonic() - self.begin
        return f"{n} scenes, {n / max(seconds, 1e-9):.1f} a second, {sum(self.kinds.values())} violations"


def judged(machine, seed, family, number):
    """(family, number, what became of it, why, how often limber ran)."""
    before = machine.calls
    found, why = verdict(machine, family, families.FAMILIES[family][0](draw.seeded(seed, family, number), number))
    return family, number, found, why, machine.calls - before


def judge_one(task):
    """In a process of a pool, which has its own machine."""
    return judged(judge_one.machine, *task)


def enter_pool(folder, limber):
    judge_one.machine = machine_in(Path(tempfile.mkdtemp(dir=folder)), limber)


def campaign(machine, a):
    tasks = ((a.seed, family, number) for number in range(a.first, a.first + a.count)
             for family in a.family or list(families.FAMILIES))
    if a.jobs == 1:
        return summary(collect((judged(machine, *task) for task in tasks), machine, a))
    with multiprocessing.Pool(a.jobs, enter_pool, (machine.folder, a.limber)) as pool:
        return summary(collect(pool.imap(judge_one, tasks, chunksize=7), machine, a))


def collect(verdicts, machine, a):
    tally, end = Tally(), time.monotonic() + 60 * a.minutes
    for family, number, found, why, runs in verdicts:
        tally.counts[family][found] += 1
        tally.runs += runs
        if found in ("refused", "failed", "unclear"):
            tally.reasons[f"{family}: {found}: {shorter(why)}"] += 1
        elif found == "disagrees":
            tally.kinds[f"{family}: {why.kind}"] += 1
            tell(machine, a, family, number, why, tally.kinds[f"{family}: {why.kind}"])
        if sys.stderr.isatty():
            print(f"\r{tally.line()}  ", end="", file=sys.stderr, flush=True)
        elif tally.count() % 700 == 0:
            print(f"{tally.line()}, up to {family} {number}", flush=True)
        if time.monotonic() > end:
            break
    return tally


def tell(machine, a, family, number, why, how_many):
    print(f"{family} {number} (seed {a.seed}): {why}", flush=True)
    if how_many > 3:  # further ones of a kind teach little
        return
    case = families.FAMILIES[family][0](draw.seeded(a.seed, family, number), number)
    if not a.no_shrink and family != "keys":  # without what acts every key is idle
        case, why = shrink.shrunk(machine, family, case, why, families, verdict)
    keep(a.keep, family, a.seed, number, case, why)


def shorter(why):
    """A message without places and numbers, to count it."""
    words = str(why).split(": ")
    words = [w for w in words if ".yaml:" not in w]
    return "".join("#" if c.isdigit() else c for c in ": ".join(words))[:110]


def keep(folder, family, seed, number, case, why):
    folder.mkdir(parents=True, exist_ok=True)
    head = [str(why).replace("\n", " "), json.dumps({"family": family, **{k: v for k, v in case.items() if k != "scene"}})]
    (folder / f"{family}-{seed}-{number}.yaml").write_text(text.write(case["scene"], head))


def run_corpus(machine, folder):
    """Each kept scene by its own check: none may disagree any more."""
    bad = 0
    for file in sorted(folder.glob("*.yaml")):
        scene, head = text.read(file.read_text())
        case = json.loads(head[-1])
        found, why = verdict(machine, case["family"], {**case, "scene": scene})
        if found == "disagrees":
            bad += 1
            print(f"{file.name}: {why}")
    print(f"{bad} of {len(list(folder.glob('*.yaml')))} kept scenes disagree")
    return 1 if bad else 0


def summary(tally):
    print(f"\n{tally.line()}, {tally.runs} runs of limber")
    for family, counts in tally.counts.items():
        print(f"  {family:12s} " + ", ".join(f"{counts[k]} {k}" for k in ("agrees", "refused", "failed", "unclear", "disagrees")))
    for title, table in (("why nothing was compared, most often:", tally.reasons.most_common(12)),
                         ("violations by kind:", tally.kinds.most_common())):
        if table:
            print(title)
        for reason, count in table:
            print(f"  {count:6d}  {reason}")
    return 1 if tally.kinds else 0


if __name__ == "__main__":
    sys.exit(main())
