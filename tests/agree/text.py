"""Scenes as text: YAML of which every entry is a line of JSON, so that ten lines read it back.

A scene is the data of that YAML: numbers in SI, expressions of time as strings.
"""

import json

import kinds

ORDER = ("title", "gravity", "parameters", "materials", "sections", "surfaces", "bodies", "joints", *kinds.SHORT_FORMS, "beams", "springs",
         "couplings", "cables", "bushings", "loops", "ties", "loads", "riders", "wind", "contact", "drives", "motions", "changes", "probes",
         "controllers", "events", "run")
NAMED = {"parameters", "materials", "sections", "surfaces", "bodies", "joints", *kinds.SHORT_FORMS, "beams", "springs", "couplings", "cables",
         "bushings", "loops", "ties", "loads", "riders", "controllers", "events"}


def write(scene, head=()):
    """Text of a scene; head: comment lines in front."""
    lines = [f"# {line}" for line in head] + ["limber: 1"]
    for key in ORDER:
        if key not in scene or scene[key] in ({}, []):
            continue
        value = scene[key]
        if key in NAMED:
            lines.append(f"{key}:")
            lines.extend(f"  {name}: {json.dumps(entry)}" for name, entry in value.items())
        elif isinstance(value, list) and key != "gravity":
            lines.append(f"{key}:")
            lines.extend(f"  - {json.dumps(entry)}" for entry in value)
        else:
            lines.append(f"{key}: {json.dumps(value)}")
    return "\n".join(lines) + "\n"


def read(text):
    """The scene and the comment lines of a text that `write` wrote."""
    scene, head, section = {}, [], None
    for line in text.splitlines():
        if line.startswith("#"):
            head.append(line[1:].strip())
        elif line.startswith("  - "):
            if scene[section] == {}:
                scene[section] = []
            scene[section].append(json.loads(line[4:]))
        elif line.startswith("  "):
            name, value = line.strip().split(": ", 1)
            scene[section][name] = json.loads(value)
        elif line.strip():
            section, value = line.split(":", 1)
            scene[section] = json.loads(value) if value.strip() else {}
    scene.pop("limber", None)
    scene.setdefault("probes", [])
    return scene, head
