#!/usr/bin/python3
"""Kills a run at random moments and checks that nothing is lost.

    kill_campaign.py KILLS [SEED] [--limber PATH]

A scene runs into a folder and is killed (SIGKILL) at a random moment, resumed, killed again, a few times; then it is
resumed to its end, and the next folder begins, until there were KILLS kills. After each kill the finished frames must be
the first ones of an undisturbed run's, and never fewer than before. At the end of each folder all files must equal the
undisturbed run's, byte for byte, except the wall clock in run.json.
"""

import argparse
import random
import shutil
import struct
import sys
import tempfile
import time
from pathlib import Path

import support

CHECKPOINT = ("--checkpoint", "0.02")
# Long enough that most kills strike a simulation that has left a checkpoint.
COMMON = ("--set", "links=60", "--time", "10 s", "--step", "1 ms", *CHECKPOINT, "--quiet")
# Two kinds of run, in turn: many frames, and few frames with every exported file.
KINDS = ((*COMMON, "--frame", "2 ms", "--no-vtk"), (*COMMON, "--frame", "200 ms"))

MOST_KILLS = 6  # of one run


def frame_records(data):
    """The complete records of a frames file, the layout first."""
    records, at = [], 8
    while at + 16 <= len(data):
        size = struct.unpack_from("<Q", data, at + 8)[0]
        if at + 16 + size > len(data):
            break
        records.append(data[at:at + 16 + size])
        at += 16 + size
    return records


class Reference:
    """An undisturbed run."""

    def __init__(self, scene, folder, options):
        self.folder, self.options = folder, options
        begin = time.monotonic()
        finish(support.limber("run", scene, *options, "--out", folder))
        self.seconds = time.monotonic() - begin
        self.frames = frame_records((folder / "frames").read_bytes())


def finish(done):
    if done.returncode != support.DONE:
        sys.exit(f"limber ended with {done.returncode}:\n{done.stderr}")


class Campaign:
    def __init__(self, folder, seed):
        self.random = random.Random(seed)
        self.scene = folder / "scene.yaml"
        self.scene.write_text(support.SCENE, encoding="utf-8")
        self.references = [Reference(self.scene, folder / f"reference{i}", kind) for i, kind in enumerate(KINDS)]
        self.kills = self.before_start = self.with_checkpoint = self.after_end = 0

    def moment(self, reference):
        """When to kill: mostly while it simulates, sometimes while it starts, sometimes anywhere."""
        kind = self.random.random()
        if kind < 0.1:
            return self.random.uniform(0, 0.05)
        return self.random.uniform(0, reference.seconds * (0.5 if kind < 0.7 else 1))

    def live_and_die(self, run, reference):
        """One life of the process; true if it came to its end before it was killed."""
        begun = (run / "run.json").exists()
        arguments = ("resume", run, *CHECKPOINT, "--quiet") if begun else self.first_life(run, reference)
        process, started = support.start(*arguments), time.monotonic()
        try:
            code = process.wait(self.moment(reference))
        except support.subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.kills += 1
            return False
        if code != support.DONE:
            sys.exit(f"limber {arguments[0]} ended with {code} after {self.kills} kills in {run}")
        if not begun:  # the machine was busy with something else during the reference
            reference.seconds = min(reference.seconds, time.monotonic() - started)
        return True

    def first_life(self, run, reference):
        return ("run", self.scene, *reference.options, "--out", run)

    @staticmethod
    def check_frames(run, reference, at_least):
        """What is readable after a kill is the beginning of the reference; returns how many records there are."""
        file = run / "frames"
        records = frame_records(file.read_bytes()) if file.exists() else []
        if records != reference.frames[:len(records)]:
            sys.exit(f"{file}: frames differ from the undisturbed run")
        if len(records) < at_least:
            sys.exit(f"{file}: {at_least} records were complete, now {len(records)}")
        return len(records)

    def count(self, run):
        """Where the kill struck, for the summary."""
        self.before_start += not (run / "run.json").exists()
        self.with_checkpoint += (run / "checkpoint").exists()
        self.after_end += (run / "run.json").exists() and support.run_json(run)["outcome"] == "done"

    def one_folder(self, run, reference, kills):
        """Runs to the end through a few kills, as long as there are some left."""
        records = 0
        kills = min(kills, self.kills + self.random.randint(1, MOST_KILLS))
        while self.kills < kills:
            if self.live_and_die(run, reference):
                break
            self.count(run)
            records = self.check_frames(run, reference, records)
        if (run / "run.json").exists():
            finish(support.limber("resume", run, "--quiet"))
        else:
            finish(support.limber(*self.first_life(run, reference)))
        wrong = support.differences(run, reference.folder)
        if wrong:
            sys.exit(f"{run}: differs from the undisturbed run: {', '.join(wrong)}")
        shutil.rmtree(run)


def main():
    parser = argparse.ArgumentParser(description="Kills a run at random moments and checks that nothing is lost.")
    parser.add_argument("kills", type=int)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    support.add_limber_argument(parser)
    arguments = parser.parse_args()
    support.use(arguments.limber)
    folder = Path(tempfile.mkdtemp(prefix="limber_kill_"))
    campaign = Campaign(folder, arguments.seed)
    folders = 0
    while campaign.kills < arguments.kills:
        reference = campaign.references[folders % len(campaign.references)]
        campaign.one_folder(folder / f"run{folders}", reference, arguments.kills)
        folders += 1
    shutil.rmtree(folder)
    fresh = campaign.kills - campaign.before_start - campaign.with_checkpoint - campaign.after_end
    print(f"{campaign.kills} kills in {folders} runs: {campaign.before_start} before run.json, {fresh} before the first "
          f"checkpoint, {campaign.with_checkpoint} simulating with a checkpoint, {campaign.after_end} while exporting; "
          f"no finished frame lost, every file the same as undisturbed")


if __name__ == "__main__":
    main()
