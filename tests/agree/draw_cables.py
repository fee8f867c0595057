"""Cables over eyelets and pulleys, from what is drawn already: their numbers hang on the bodies alone, so that nothing else is drawn otherwise."""

import json
import random

import vec


def add_cables(scene, takes, probe):
    """One at most, taut at the start and soft, so that it stays so."""
    if not takes.couplings or not scene["bodies"]:
        return
    rng = random.Random("cables" + json.dumps(scene["bodies"], sort_keys=True))
    if rng.random() > 0.3:
        return
    names = list(scene["bodies"])
    rng.shuffle(names)
    places = [{"on": "world", "at": vec.scaled(rng.uniform(0.3, 0.6), vec.random_unit(rng))}] + \
        [{"on": n, "at": vec.scaled(rng.uniform(0.01, 0.04), vec.random_unit(rng))} for n in names[:3]]
    if rng.random() < 0.4:
        places.append({"on": "world", "at": vec.scaled(rng.uniform(0.3, 0.6), vec.random_unit(rng))})
    if rng.random() < 0.3:
        rng.shuffle(places)
    route = places
    if len(route) > 2 and rng.random() < 0.4:
        put_round_a_pulley(rng, scene, route, rng.randrange(1, len(route) - 1))
    EA = rng.uniform(20, 100)
    cable = {"route": route, "EA": EA, "pretension": EA * rng.uniform(0.3, 0.8)}
    if len(route) > 2 and rng.random() < 0.2:
        cable["closed"] = True
    elif rng.random() < 0.2:
        cable["winch"] = f"{rng.uniform(-0.02, 0.02):.6g}*sin({rng.uniform(3, 20):.6g}*t)"
    inner = [g for g in route[1:-1]]
    if takes.friction and inner and rng.random() < 0.2:
        for guide in inner:
            guide["friction"] = rng.uniform(0.05, 0.4)
    elif rng.random() < 0.4:
        cable["damping"] = rng.uniform(0, 2)
    scene["cables"] = {"k0": cable}
    probe(scene, quantity="cable_length", cable="k0")
    probe(scene, quantity="cable_tension", cable="k0")
    probe(scene, quantity="cable_tension", cable="k0", guide=1)


def start_of(scene, guide):
    return guide["at"] if guide["on"] == "world" else scene["bodies"][guide["on"]]["at"]


def put_round_a_pulley(rng, scene, route, k):
    """A circle of the world in the plane of the two guides beside it."""
    if all(g["on"] == "world" for i, g in enumerate(route) if i != k):
        return
    before, after = start_of(scene, route[k - 1]), start_of(scene, route[k + 1])
    centre = vec.add(vec.scaled(0.5, vec.add(before, after)), vec.scaled(rng.uniform(0.15, 0.3), vec.random_unit(rng)))
    normal = vec.cross(vec.sub(centre, before), vec.sub(after, centre))
    size = sum(x * x for x in normal) ** 0.5
    if size < 1e-3:
        return
    axis = vec.scaled(1 / size, normal)
    guide = {"pulley": "world", "at": centre, "radius": rng.uniform(0.01, 0.03), "axis": axis, "turn": "positive"}
    if rng.random() < 0.3:
        guide = {**guide, "axis": vec.scaled(-1, axis), "turn": "negative"}
    route[k] = guide


def without(scene, key):
    """The same scene with a key of its cables and of their guides left out."""
    for cable in scene.get("cables", {}).values():
        cable.pop(key, None)
        for guide in cable["route"]:
            guide.pop(key, None)
