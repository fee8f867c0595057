"""Makes a failing scene small: entries and keys are dropped and numbers simplified while it fails in the same way."""

import copy
import time

import kinds

MOST_TRIES, MOST_SECONDS = 300, 40
SECTIONS = ("wind", "contact", "changes", "ties", "loads", "springs", "couplings", "cables", "bushings", "loops", "probes", "joints", *kinds.SHORT_FORMS, "beams", "bodies",
            "surfaces", "materials", "sections")


def shrunk(machine, family, case, why, families, verdict):
    """A smaller case with the same kind of disagreement, and what it says."""
    best, end, tries, size = case, time.monotonic() + MOST_SECONDS, [0], why.size
    if family == "written":
        best = families.narrow_written(case)
    if why.kind == "hangs":  # every try would
        return best, why

    def still(candidate):
        nonlocal best, why
        if tries[0] >= MOST_TRIES or time.monotonic() > end:
            return False
        tries[0] += 1
        trial = {**copy.deepcopy(best), "scene": candidate}
        try:
            found, reason = verdict(machine, family, trial)
        except (KeyError, IndexError, ValueError, TypeError, ZeroDivisionError, StopIteration, FileNotFoundError):
            return False  # the check needs what was dropped
        if found != "disagrees" or reason.kind != why.kind or reason.size < 0.2 * size:
            return False
        best, why = trial, reason
        return True
    going = True
    while going and tries[0] < MOST_TRIES and time.monotonic() < end:
        going = any([drop_entries(best, still, lambda: best), drop_keys(best, still, lambda: best)])
    simplify_numbers(still, lambda: best)
    return best, why


def without(scene, section, name):
    """The scene without an entry and without all that names it."""
    out = copy.deepcopy(scene)
    del out[section][name]
    if section in ("wind", "contact"):
        return out
    gone = [name] if isinstance(name, str) else []
    while gone:
        n = gone.pop()
        for other in SECTIONS + ("run",):
            entries = out.get(other)
            if isinstance(entries, dict) and other != "run":
                for key in [k for k, e in entries.items() if mentions(e, n)]:
                    del entries[key]
                    gone.append(key)
            elif isinstance(entries, list):
                out[other] = [e for e in entries if not mentions(e, n)]
    return out


def mentions(entry, name):
    if isinstance(entry, dict):
        return any(mentions(v, name) or k == name for k, v in entry.items() if k not in ("name", "quantity", "type"))
    if isinstance(entry, list):
        return any(mentions(v, name) for v in entry)
    return isinstance(entry, str) and entry.replace("@", ".").split(".")[0] == name


def drop_entries(case, still, now):
    shorter = False
    for section in SECTIONS:
        entries = now()["scene"].get(section)
        if not entries:
            continue
        if section in ("wind",):
            scene = copy.deepcopy(now()["scene"])
            del scene[section]
            shorter |= still(scene)
            continue
        names = list(entries) if isinstance(entries, dict) else list(range(len(entries)))[::-1]
        for name in names[::-1] if isinstance(entries, dict) else names:
            current = now()["scene"].get(section, {})
            if (name in current) if isinstance(current, dict) else name < len(current):
                shorter |= still(without(now()["scene"], section, name))
    return shorter


NEEDED = {"type", "child", "at", "axis", "axis2", "path", "material", "section", "E", "density", "on", "along", "between", "name", "quantity",
          "a", "b", "time", "step", "frame", "rom", "ends", "elements", "circle", "joint", "spring",
          "coupling", "gear", "mimic", "belt", "rack", "differential", "cam", "sum", "profile", "radii", "radius", "mass",
          "cable", "route", "EA", "pulley"}


def drop_keys(case, still, now):
    shorter = False
    scene = now()["scene"]
    for section, entries in scene.items():
        for name, entry in list(entries.items() if isinstance(entries, dict) else enumerate(entries)):
            if isinstance(entry, dict):
                for key in [k for k in entry if k not in NEEDED]:
                    trial = copy.deepcopy(now()["scene"])
                    try:
                        del trial[section][name][key]
                    except (KeyError, IndexError):
                        continue
                    shorter |= still(trial)
    return shorter


def plainer(path, value):
    """Shorter numbers to try; zero only for a component of a vector that may vanish."""
    zero = [0] if isinstance(path[-1], int) and not any(k in path for k in ("inertia", "box", "stiffness", "axis", "up")) else []
    return zero + [float(f"{value:.1g}"), float(f"{value:.2g}")]


def simplify_numbers(still, now):
    """Fewer digits, all at once if that goes, else one by one; expressions of time as constants."""
    def is_shape(path):
        """Places and axes of joints, which the bodies of a loop or a frame need as they are."""
        return path[0] in ("joints", "loops") and any(k in path for k in ("at", "axis", "axis2"))

    for digits in (1, 2, 3):
        trial = copy.deepcopy(now()["scene"])
        for path, value in kinds.walk(trial):
            if isinstance(value, float) and not is_shape(path):
                kinds.put(trial, path, float(f"{value:.{digits}g}"))
        if still(trial):
            break
    for path, value in list(kinds.walk(now()["scene"])):
        if is_shape(path):
            continue
        candidates = [kinds.with_time(value, "0.1")] if isinstance(value, str) else plainer(path, value)
        for candidate in candidates:
            if candidate == value:
                break
            trial = copy.deepcopy(now()["scene"])
            try:
                kinds.put(trial, path, candidate)
            except (KeyError, IndexError):
                break
            if still(trial):
                break
