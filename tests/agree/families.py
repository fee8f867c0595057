"""The families of checks. A family draws a case (plain data, a scene in it) and checks a case; shrinking needs no more."""

import copy
import json
import math

import asked
import compare
import draw
import draw_beams
import draw_cables
import keys
import kinds
import rewrite
import vec
from machine import Disagreement, Failed, Refused, Unclear


# Written differently, same physics

FREE = 1e-9  # a pivot of a rest, of the stiffness there: what a hinge with nothing on it has


def draw_written(rng, number):
    question, scene = asked.draw_asked(rng)
    ways = list(rewrite.WAYS) + ["converted", "resumed"]
    if not question.startswith("run"):
        ways = [w for w in ways if w not in ("denser", "resumed", "threads")]
    return {"question": question, "scene": scene, "ways": rng.sample(ways, 5), "seed": rng.randrange(10 ** 9)}


def check_written(machine, case):
    scene, question = case["scene"], case["question"]
    answer = machine.ask(scene, question)
    base, size = compare.groups(answer, scene), draw.radius(scene)
    limit, scale = None, compare.scales(base, scene, size)
    for way in case["ways"]:
        rng = draw.seeded(case["seed"], way)
        case["at"] = way
        if way in ("converted", "resumed"):
            other = as_converted(machine, scene, question) if way == "converted" else as_resumed(machine, scene, answer, question, rng)
            if other is None:
                continue
            d = compare.differences(base, compare.groups(other, scene))
            report(way, question, d, dict.fromkeys(d, 0.0), scale)
            continue
        try:
            new = rewrite.WAYS[way](scene, rng)
        except Unclear:
            continue
        if not new.exact and limit is None:
            limit = compare.allowed(machine, scene, question, base, draw.seeded(case["seed"], "nudge"), size)
        try:
            other = machine.ask(new.scene, question, *new.options)
        except Refused as refusal:
            if new.discrete:  # it uses other features now: a closing joint instead of a tree's
                continue
            raise Disagreement(f"{way}, {question}: refused", str(refusal)) from None
        except Failed as failure:
            if scene.get("ties") and question.startswith("run"):  # of a beam that does not stretch: nearly dependent, and said
                continue
            if "contradict each other" in str(failure):  # and says so: ladders pushed on one side (docs/agreement.md)
                raise Unclear("a pose in which loops lose a row") from None
            if way == "denser" and "the integrator itself" in str(failure):  # what it loses is looked at in every frame
                continue
            raise Disagreement(f"{way}, {question}: fails", str(failure)) from None
        theirs = compare.groups(other, new.scene)
        d = compare.differences(base, theirs, new.back, new.every)
        here = dict.fromkeys(d, 0.0) if new.exact else limit
        if new.discrete and question == "run rom":
            here = {n: limit[n] + gap(answer) * s for n, s in scale.items()}
        elif new.discrete and way != "split" and question.startswith("run"):
            here = after_refinement(machine, case, new, base, theirs, here)
        elif not new.exact and question == "run articulated" and exceeds(d, here):
            here = after_iterations(machine, new, theirs, here)
        elif not new.exact and question == "run adaptive" and scene.get("ties"):
            here = {n: limit[n] + play(answer, size) * s for n, s in scale.items()}
        if touches(scene, question) and not new.exact and not (new.discrete and way != "split") and exceeds(d, here):
            here = after_refinement(machine, case, new, base, theirs, here)
        if exceeds(d, here) and rests_anywhere(machine, scene, question):
            raise Unclear("a rest with a direction that nothing holds")
        report(way, question, d, here, scale)
        if (answer.more.get("least_pivot") or 0) > 1e-6 and other.more["stable"] != answer.more["stable"]:
            raise Disagreement(f"{way}, {question}: stable or not")
    case["at"] = None


def gap(answer):
    """Of a reduced model: how far its joints stood apart, of its size. So exact are its poses."""
    return max(answer.columns["rom.gap"]) if "rom.gap" in answer.columns else 1.0


def play(answer, size):
    """Of a beam held at both ends that does not stretch: if its ends are off by g of its length its middle turns by 2 √g, in both answers."""
    return 4 * math.sqrt(max(answer.columns["adaptive.loop_gap"]) / size) if "adaptive.loop_gap" in answer.columns else 0.0


def rests_anywhere(machine, scene, question):
    """Of a rest, or a run that starts at one: nothing holds it along some direction, and where along it it ends is the way's choice."""
    if question.startswith("run") and scene["run"].get("from") != "static":
        return False
    try:
        rest = machine.ask(scene, "static articulated")
    except (Refused, Failed):
        return False
    return rest.more["least_pivot"] is not None and abs(rest.more["least_pivot"]) < FREE


def touches(scene, question):
    """Bodies touch: a corner that lands a rounding sooner is taken in another part of the step, within the step's own error."""
    return "contact" in scene and question in ("run articulated", "run rom")


def exceeds(found, limit):
    return any(not d <= limit[n] for n, d in found.items())


def after_iterations(machine, new, theirs, limit):
    """What the other's own iterations leave over: `limit` knows those of the first answer."""
    tight = compare.tightened(machine, new.scene, new.options)
    left = compare.differences(compare.taken_back(theirs, new.back), tight, new.back)
    return {n: limit[n] + 10 * left.get(n, 0) for n in limit}


def after_refinement(machine, case, new, base, theirs, limit):
    """Where the step itself differs, not only rounding: both answers may be off by what half a step changes."""
    one = compare.refined(machine, case["scene"], case["question"], base)
    two = compare.refined(machine, new.scene, case["question"], theirs)
    return {n: limit[n] + 3 * (one[n] + two.get(n, 0)) for n in limit}


def report(way, question, found, limit, scale):
    bad = {n: d / scale[n] if scale[n] > 0 else float("inf") for n, d in found.items() if not d <= limit[n]}
    if bad:
        name = max(bad, key=bad.get)
        raise Disagreement(f"{way}, {question}: another answer",
                           f"{name} by {found[name]:.3g}, allowed {limit[name]:.3g}", bad[name])


def as_converted(machine, scene, question):
    full = machine.convert(scene)
    try:
        return machine.ask(full, question, *machine.times(scene))
    except Refused as refusal:
        raise Disagreement(f"converted, {question}: refused", str(refusal)) from None


def as_resumed(machine, scene, answer, question, rng):
    try:
        resumed, code = machine.interrupted(scene, question.split(" ")[1], int(answer.more["frames_size"] * rng.uniform(0.5, 0.95)))
    except Unclear:
        return None
    return resumed if code != 0 else None


def narrow_written(case):
    """Of a case that failed: the way that did."""
    return {**case, "ways": [case["at"]]} if case.get("at") else case


# Asked twice: integrators at refined steps

ORDERS = {"euler": 1, "implicit_euler": 1, "midpoint": 2, "sdirk": 2, "gauss": 4, "sdirk4": 4, "rk4": 4}
MOST_HALVINGS = 5  # of the step; a disagreement stands only at the shortest
LEAST_HALVINGS = 2  # before a step counts as too long for any answer
SETTLED = 1e-9     # of the size: what iterations of steps leave over


def smooth(scene):
    """Without what makes an order of convergence an idle word: stops, slack cables, cut forces, jumps in time."""
    out = copy.deepcopy(scene)
    for section in ("joints", "loops"):
        for j in out.get(section, {}).values():
            for key in ("limits", "restitution", "stop_stiffness", "stop_damping", "friction"):
                j.pop(key, None)
            j.get("drive", {}).get("servo", {}).pop("max_force", None)
    for s in out.get("springs", {}).values():
        s.pop("tension_only", None)
    draw_cables.without(out, "friction")
    for c in out.get("couplings", {}).values():
        c.pop("backlash", None)
        if isinstance(c.get("profile"), dict):  # its curvature jumps at the points
            (x, y), far = c["profile"]["table"][-2:]
            c["profile"] = f"{y / x!r}*x + {(far[1] / far[0] - y / x) / far[0]!r}*x^2"
    for c in out.get("controllers", {}).values():
        c.pop("limits", None)
    if any("stop" in e for e in out.get("events", {}).values()):  # at other times by other integrators
        out.pop("events")
    jumps = lambda v: v.replace("if(t < 0.1, 0, 1)", "sin(4*t)") if isinstance(v, str) and "if(" in v else v
    replace_tables(out, lambda rows: rows[0][1:])
    for path, value in list(kinds.walk(out)):
        if isinstance(value, str):
            value = jumps(value)
            kinds.put(out, path, value if "min(" not in value else kinds.with_time("sin(5*t)*(0.1)", "t"))
    return out


def replace_tables(value, constant):
    """Functions of time by points as constants: a number or a vector. Profiles of cams are none."""
    for key, entry in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if key == "profile":
            continue
        if isinstance(entry, dict) and "table" in entry:
            fixed = constant(entry["table"])
            value[key] = fixed if len(fixed) > 1 else fixed[0]
        elif isinstance(entry, (dict, list)):
            replace_tables(entry, constant)


def draw_integrators(rng, number):
    generator = rng.choice(["mechanism", "mechanism", "beams"])
    scene = smooth(asked.GENERATORS[generator](rng, "run articulated"))
    for key in ("integrator", "error", "solver", "from"):
        scene["run"].pop(key, None)
    scene["run"]["time"] /= 2  # of a dozen runs
    for spring in scene["springs"].values():
        spring["rest_length"] = 0  # no singular length on the way
    return {"scene": scene}


def positions(answer, scene):
    return {n: g for n, g in compare.groups(answer, scene).items() if g[0] == "position"}


def distance(a, b):
    return max(compare.differences(a, b).values())


class Ladder:
    """Positions by one integrator at halved steps, and how far the last are from where they go."""

    def __init__(self, machine, scene, name):
        self.machine, self.scene, self.name, self.halvings, self.tables, self.moves = machine, scene, name, -1, [], []
        while len(self.tables) < 3 or self.rate() > 0.8:
            self.refine()

    def refine(self):
        """One more; a step that is too long for an answer begins the ladder below it."""
        self.halvings += 1
        step = self.scene["run"]["step"] / 2 ** self.halvings
        try:
            answer = self.machine.ask(self.scene, "run articulated", "--integrator", self.name, "--step", step)
            self.check_split(answer)
        except Failed:
            if self.halvings >= LEAST_HALVINGS:
                raise
            self.tables, self.moves = [], []
            return
        self.tables.append(positions(answer, self.scene))
        if len(self.tables) > 1:
            self.moves.append(distance(*self.tables[-2:]))
        if self.halvings == MOST_HALVINGS and (len(self.tables) < 3 or self.rate() > 0.8):
            raise Unclear(f"{self.name} does not converge yet")

    def check_split(self, answer):
        """A run that was split more often than it has steps is none at its step: no order shows in halving that."""
        splits = answer.more["substeps"] / answer.more["steps"]
        if splits > 1:
            if splits > 4 ** LEAST_HALVINGS:
                self.halvings = LEAST_HALVINGS
            raise Failed(f"{self.name} splits its steps")

    def rate(self):
        """What a halved step leaves of the move: by its order or, where that does not show yet, as found."""
        found = 0
        if self.moves[-1] > SETTLED * draw.radius(self.scene):
            found = self.moves[-1] / self.moves[-2] if self.moves[-2] > 0 else 1
        return max(found, 0.5 ** ORDERS[self.name])

    def steady(self):
        """Whether the last moves fell one after the other: an explicit integrator at steps that are too long for it wavers."""
        last = self.moves[-3:]
        return all(b <= 0.8 * a for a, b in zip(last, last[1:]))

    def error(self):
        """All moves still to come, a geometric series: Richardson's estimate where the rate is the order's."""
        return self.moves[-1] * self.rate() / (1 - self.rate())


def check_integrators(machine, case):
    """Integrators agree if they do at steps so short that each says how far it is off; else at shorter ones."""
    scene = case["scene"]
    best, size = Ladder(machine, scene, "midpoint"), draw.radius(scene)
    for name in ORDERS:
        try:
            other = best if name == "midpoint" else Ladder(machine, scene, name)
        except Failed:
            if name == "rk4":  # explicit: stiff joints ask for shorter steps, and it says so
                continue
            raise
        while True:
            d, limit = distance(best.tables[-1], other.tables[-1]), 3 * (best.error() + other.error()) + SETTLED * size
            if d <= limit:
                break
            if other.halvings == best.halvings == MOST_HALVINGS:
                for ladder in (best, other):
                    if not ladder.steady():
                        raise Unclear(f"{ladder.name} does not converge yet")
                raise Disagreement(f"{name} and midpoint", f"positions differ by {d:.3g} m, allowed {limit:.3g}")
            for ladder in (best, other):
                if ladder.halvings < MOST_HALVINGS:
                    ladder.refine()


# Asked twice: rests


def steady(scene):
    """Everything as it acts at one time."""
    out = copy.deepcopy(scene)
    replace_tables(out, lambda rows: rows[len(rows) // 2][1:])
    for path, value in list(kinds.walk(out)):
        if isinstance(value, str):
            kinds.put(out, path, kinds.with_time(value, "0.05"))
    for load in out.get("loads", {}).values():
        load.pop("ramp", None)
    return out


def draw_rests(rng, number):
    kind = rng.choice(["beams", "threads"])
    scene = steady(draw_beams.beams(rng, "static thread" if kind == "threads" else "static chain"))
    if kind == "threads":
        for b in scene["beams"].values():
            b.pop("planar", None), b.pop("recipe", None)
        scene["beams"].pop("b", None)
        scene["loads"] = {n: l for n, l in scene["loads"].items() if not names_beam(l, "b")}
        scene["springs"] = {n: s for n, s in scene["springs"].items() if not names_beam(s, "b")}
        scene["joints"] = {}
        for b in scene["bodies"].values():
            b["fixed"] = True
        springs = set(scene["springs"])
        scene["probes"] = [p for p in scene["probes"] if not names_beam(p, "b") and p.get("spring", next(iter(springs), None)) in
                           springs | {None}]
    return {"scene": scene, "threads": kind == "threads"}


def names_beam(entry, beam):
    text = json.dumps(entry)
    return f'"{beam}.' in text or f'"{beam}@' in text or f'"{beam}"' in text


def check_rests(machine, case):
    scene = case["scene"]
    size = draw.radius(scene)
    chain = machine.ask(scene, "static chain")
    base = compare.groups(chain, scene)
    limit = compare.allowed(machine, scene, "static chain", base, draw.seeded("rests"), size)
    other = machine.ask(scene, "static articulated")
    if chain.more["stable"] and other.more["stable"]:
        # Both stop when little of the forces is left over; a soft structure moves by that over its stiffness.
        slack = 1e3 * (chain.more["residual"] + other.more["residual"]) * size
        d = compare.differences(base, compare.groups(other, scene))
        scale = compare.scales(base, scene, size)
        report("chain and articulated", "static", d, {n: limit[n] + slack + 1e-8 * s for n, s in scale.items()}, scale)
    if case["threads"] and chain.more["stable"]:
        check_thread_rest(machine, scene, size)


def check_thread_rest(machine, scene, size):
    found = {}
    for method in ("chain", "thread"):
        tips = []
        for elements in (12, 24):
            finer = copy.deepcopy(scene)
            for b in finer["beams"].values():
                b["elements"] = elements
            tips.append(positions(machine.ask(finer, f"static {method}"), scene))
        found[method] = (tips[1], distance(*tips))
    # Threads stretch and shear: of the order (radius / length)² of the bend.
    section = next(iter(scene["sections"].values()))
    thick = max(v for _, v in kinds.walk(section))
    physical = 40 * (thick / size) ** 2 * size
    d = distance(found["chain"][0], found["thread"][0])
    limit = 3 * (found["chain"][1] + found["thread"][1]) + physical
    if d > limit:
        raise Disagreement("chain and thread, static", f"positions differ by {d:.3g} m, allowed {limit:.3g}")


# Asked twice: what rests stays


def draw_stays(rng, number):
    generator = rng.choice(["mechanism", "mechanism", "beams"])
    scene = steady(asked.GENERATORS[generator](rng, "static articulated"))
    for j in scene.get("joints", {}).values():
        j.pop("velocity", None)
    scene["run"] = {"time": 1, "step": 0.02, "frame": 0.2, "integrator": "implicit_euler"}
    scene.pop("wind", None)
    for load in scene["loads"].values():
        load.pop("follows", None)  # stable statics may flutter
    return {"scene": scene}


def check_stays(machine, case):
    scene = case["scene"]
    rest = machine.ask(scene, "static articulated")
    if not rest.more["stable"] or rest.more.get("circulatory") or (rest.more["least_pivot"] or 0) < 1e-6:
        raise Unclear("not stable")
    size = draw.radius(scene)
    there = positions(rest, scene)
    try:
        run = machine.ask(scene, "run articulated", "--from", "static")
    except Failed as failure:
        if scene.get("ties"):  # of a beam that does not stretch: nearly dependent, and said
            raise
        raise Disagreement("a rest from which no step goes", str(failure)) from None
    stays = positions(run, scene)
    for name, (_, _, frames) in stays.items():
        d = max(max(abs(x - y) for x, y in zip(row, there[name][2][0])) for row in frames)
        if d > 1e-6 * size:
            raise Disagreement("a rest that does not stay", f"{name} leaves by {d:.3g} m of {size:.3g}")


# Asked twice: adaptive and damped motion settle where statics say


def draw_settles(rng, number):
    scene = steady(draw.mechanism(rng, "run adaptive"))
    for j in scene["joints"].values():
        j.pop("position", None)
    return {"scene": scene}


def settled(machine, scene, question, *options):
    """Where a run comes to rest, and how far it still went in its last quarter."""
    table = positions(machine.ask(scene, question, *options), scene)
    n = len(next(iter(table.values()))[2])
    back = lambda k: {name: (q, e, frames[k:k + 1]) for name, (q, e, frames) in table.items()}
    return back(n - 1), distance(back(n - 1), back(3 * n // 4))


def check_settles(machine, case):
    scene, size = case["scene"], draw.radius(case["scene"])
    static = machine.ask(scene, "static articulated")
    if not static.more["stable"]:
        raise Unclear("not stable")
    rest = positions(static, scene)
    written = {n: (q, e, [place(scene, e)]) for n, (q, e, _) in rest.items()}
    if distance(rest, written) > 0.15 * size:
        raise Unclear("far from where it is written: there may be another rest")
    for question, options in (("run articulated", ("--integrator", "implicit_euler", "--step", "0.1", "--time", "40", "--frame", "1")),
                              ("run adaptive", ("--time", "20", "--step", "0.01", "--frame", "1"))):
        there, moving = settled(machine, scene, question, *options)
        d, limit = distance(rest, there), 10 * moving + 1e-5 * size
        if moving > 1e-4 * size:
            continue
        if d > limit:
            raise Disagreement(f"{question} settles elsewhere than statics", f"{d:.3g} m, allowed {limit:.3g}")


def place(scene, entry):
    return list(scene["bodies"][entry["on"]]["at"])


# Asked twice: a reduced model near its point


def draw_reduced(rng, number):
    scene = draw.mechanism(rng, "run rom")
    scene = steady(scene)
    for j in scene["joints"].values():
        j.pop("drive", None)
    ends = scene["run"]["rom"]["ends"]
    scene["run"] = {"rom": {"ends": ends}, "time": 20, "step": 0.05, "frame": 1}
    if not ends:
        ends = scene["run"]["rom"]["ends"] = list(scene["bodies"])[:1]
    scene["loads"] = {"push": {"on": ends[0], "force": vec.scaled(rng.uniform(0.5, 3), vec.random_unit(rng))}}
    scene["loads"]["push"]["force"] = [f"({x!r})*min(t, 1)" for x in scene["loads"]["push"]["force"]]
    return {"scene": scene}


def check_reduced(machine, case):
    scene, size = case["scene"], draw.radius(case["scene"])
    errors, moved = [], []
    for share in (0.04, 0.02):
        here = copy.deepcopy(scene)
        here["loads"]["push"]["force"] = [f"{share}*({x})" for x in scene["loads"]["push"]["force"]]
        static = machine.ask(here, "static articulated", "--at", "20")
        if not static.more["stable"]:
            raise Unclear("not stable")
        there, moving = settled(machine, here, "run rom")
        if moving > 1e-7 * size:
            raise Unclear("does not settle")
        keep = {p["name"] for p in scene["probes"] if p.get("on") in scene["run"]["rom"]["ends"]}
        pick = lambda table: {n: g for n, g in table.items() if n in keep}
        errors.append(distance(pick(positions(static, scene)), pick(there)))
        unloaded = copy.deepcopy(here)
        unloaded["loads"] = {}
        moved.append(distance(pick(positions(static, scene)), pick(positions(machine.ask(unloaded, "static articulated"), scene))))
    if moved[0] > 0.1 * size:
        raise Unclear("goes far")
    # What a linear model leaves out is of second order: half the load, a quarter of the error.
    if errors[1] > 0.4 * errors[0] + 1e-6 * size + 0.02 * moved[1] ** 2 / size:
        raise Disagreement("rom is not tangent to statics at its point",
                           f"error {errors[0]:.3g} m, {errors[1]:.3g} at half the load, which moves by {moved[0]:.3g}")


FAMILIES = {"written": (draw_written, check_written), "integrators": (draw_integrators, check_integrators),
            "rests": (draw_rests, check_rests), "stays": (draw_stays, check_stays), "settles": (draw_settles, check_settles),
            "reduced": (draw_reduced, check_reduced), "keys": (keys.draw_keys, keys.check_keys)}
