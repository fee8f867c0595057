"""More scenes: rows of links by their short form, and bodies that touch each other under a reduced model."""

import draw_beams
import vec
from draw import Takes, add_tree, finish, new_scene, probe, some, vector_of_time


def links(rng, question):
    """A chain by its short form, perhaps one on the other, with a rider or a drive."""
    takes = Takes(question)
    scene = new_scene(rng)
    n = rng.randint(1, 5)
    scene["linkages"] = {"arm": chain(rng, takes, n)}
    if some(rng, 0.3):
        scene["linkages"]["twig"] = {**chain(rng, takes, rng.randint(1, 2)), "from": rng.choice(["arm.tip", "arm.0"])}
        scene["linkages"]["twig"].pop("start", None)
    for name in scene["linkages"]:
        probe(scene, quantity="position", on=f"{name}.tip")
        probe(scene, quantity="rotation", on=f"{name}.0")
    if takes.method == "articulated" and n > 1 and some(rng, 0.2):
        scene["riders"] = {"car": {"on": "arm", "mass": rng.uniform(0.1, 2), "position": f"{rng.uniform(0.1, 1):.6g}*t"}}
        probe(scene, quantity="rider_position", rider="car")
    if some(rng, 0.5):
        scene["loads"]["l0"] = {"on": "arm.tip", "force": vector_of_time(rng, 3)}
    if takes.method == "articulated" and some(rng, 0.1):
        scene["wind"] = {"velocity": vector_of_time(rng, 10)}
    finish_links(rng, scene, takes)
    return scene


def chain(rng, takes, n):
    kind = rng.choice(["revolute", "revolute", "universal", "spherical"])
    direction = vec.random_unit(rng)
    out = {"links": n, "length": rng.uniform(0.1, 0.3), "direction": direction, "start": vec.scaled(0.2, vec.random_unit(rng)),
           "joint": kind, "stiffness": rng.uniform(5, 60) * (3 if takes.must_hold else 1)}
    if kind != "spherical":
        out["axis"] = vec.perpendicular(rng, direction)
    if takes.method == "adaptive" or some(rng, 0.7):
        out["damping"] = rng.uniform(0.01, 0.3)
    if some(rng, 0.5):
        out["radius"] = out["length"] * rng.uniform(0.03, 0.15)
    if some(rng, 0.5):
        out["mass"] = rng.uniform(0.1, 1)
    if kind == "revolute" and some(rng, 0.3):
        out["bend"] = rng.uniform(-0.5, 0.5)
    if kind == "revolute" and some(rng, 0.3):
        out["rest"] = rng.uniform(-0.3, 0.3)
    if takes.drag and some(rng, 0.2):
        out["linear_drag"] = rng.uniform(0.1, 1)
    return out


def finish_links(rng, scene, takes):
    if takes.method == "articulated" and takes.verb == "run":
        scene["run"]["integrator"] = rng.choice(["midpoint", "euler", "implicit_euler", "sdirk", "gauss", "rk4"])
    if takes.method == "adaptive":
        scene["run"].update(step=0.01, time=0.5, frame=0.05)


def toy(rng):
    kind = rng.choice(["sphere", "sphere", "box", "box", "capsule", "cylinder", "hull", "mesh"])
    if kind == "sphere":
        return {"sphere": 0.05}
    if kind == "box":
        return {"box": [rng.uniform(0.04, 0.1) for _ in range(3)]}
    if kind in ("capsule", "cylinder"):
        return {kind: {"radius": rng.uniform(0.02, 0.04), "length": 0.06}}
    return {kind: draw_beams.tetrahedron(0.05)[kind]}


def add_surfaces(rng, scene):
    """What toys and planes touch with; a pair on terms of its own. Forces jump where things hit: they are no probes here."""
    terms = {"friction": rng.uniform(0, 1)}
    if some(rng, 0.5):
        terms.update(stiffness=rng.uniform(1e3, 1e4), damping=rng.uniform(0, 20))
    elif some(rng, 0.5):
        terms["restitution"] = rng.uniform(0, 0.8)
    scene["surfaces"] = {"mat": terms}
    scene["bodies"]["toy0"]["surfaces"] = ["mat"]
    if some(rng, 0.5):
        scene["contact"]["planes"][0]["surfaces"] = ["mat"]
    if some(rng, 0.3):
        scene["contact"]["pairs"] = [{"between": [rng.choice(["mat", "toy0"]), "world"], "friction": rng.uniform(0, 1)}]
    if "toy1" in scene["bodies"] and some(rng, 0.2):
        scene["bodies"]["toy1"]["collide"] = False


def touching(rng, question):
    """An arm, and bodies that fall on ground and on each other."""
    takes = Takes(question)
    scene = new_scene(rng)
    add_tree(rng, scene, takes, rng.randint(1, 2), {None: [0, 0, 0.5]})
    scene["gravity"] = [0, 0, -9.81]
    for k in range(rng.randint(1, 2)):
        body = {"at": [1 + 0.3 * rng.uniform(-1, 1), 0.3 * rng.uniform(-1, 1), 0.08 + 0.15 * k], "mass": rng.uniform(0.2, 2),
                "velocity": vec.scaled(rng.uniform(0, 1), vec.random_unit(rng)),
                "rotate": vec.scaled(rng.uniform(0, 2), vec.random_unit(rng))}
        body.update(toy(rng))
        if some(rng, 0.3):
            body["friction"] = rng.uniform(0, 1)
        scene["bodies"][f"toy{k}"] = body
        probe(scene, quantity="position", on=f"toy{k}")
    scene["contact"] = {"friction": rng.uniform(0, 0.8)}
    ground = rng.choice(["plane", "plane", "field", "field", "mesh"])
    if question == "run articulated":
        ground = "plane"  # on edges of surfaces the nearest triangle jumps (docs/agreement.md)
    if ground == "plane":
        scene["contact"]["planes"] = [{"at": [0, 0, 0], "normal": [0, 0, 1]}]
    elif ground == "mesh":  # a roof: two slopes
        x, y, z = 1.0, 1.0, 0.1
        corners = [[-x, -y, -z], [0, -y, 0], [x, -y, -z], [-x, y, -z], [0, y, 0], [x, y, -z]]
        scene["bodies"]["ground"] = {"fixed": True, "at": [1, 0, 0], "mesh": {
            "vertices": corners, "triangles": [[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4], [0, 3, 5], [0, 5, 2], [0, 2, 1], [3, 4, 5]]}}
    else:
        heights = [[0.02 * rng.uniform(-1, 1) for _ in range(4)] for _ in range(4)]
        scene["bodies"]["ground"] = {"fixed": True, "at": [1, 0, 0], "height_field": {"size": [2, 2], "rows": heights}}
    if some(rng, 0.3):
        scene["contact"]["restitution"] = rng.uniform(0, 0.8)
    if question == "run articulated" and some(rng, 0.4):
        add_surfaces(rng, scene)
    scene["joints"] = dict(scene["joints"])
    finish(rng, scene, takes)
    scene["run"].get("rom", {}).pop("modes", None)
    scene["run"].pop("error", None)  # an estimate from smooth motion knows nothing of what is hit
    scene["run"].pop("from", None)  # a rest with friction is one of many: the one that is met on the way
    return scene
