"""Scenes drawn at random, each with a question that its method takes."""

import draw
import draw_beams
import draw_more
import draw_short

GENERATORS = {"mechanism": draw.mechanism, "beams": draw_beams.beams, "threads": draw_beams.threads,
              "histories": draw_beams.histories, "links": draw_more.links, "touching": draw_more.touching,
              "shorts": draw_short.shorts}

# (how often, question, generator)
QUESTIONS = [(8, "run articulated", "mechanism"), (3, "static articulated", "mechanism"), (3, "run rom", "mechanism"),
             (3, "run adaptive", "mechanism"), (2, "static chain", "beams"), (2, "static articulated", "beams"),
             (2, "run articulated", "beams"), (1, "run rom", "beams"), (1, "run adaptive", "beams"),
             (4, "run thread", "threads"), (2, "static thread", "threads"), (1, "run articulated", "links"),
             (1, "run adaptive", "links"), (1, "static articulated", "links"), (1, "run rom", "touching"), (2, "run articulated", "touching"),
             (2, "history chain", "histories"), (1, "run articulated", "shorts"), (1, "static articulated", "shorts"),
             (1, "run adaptive", "shorts")]


def draw_asked(rng):
    """(question, scene)."""
    _, question, generator = rng.choices(QUESTIONS, [q[0] for q in QUESTIONS])[0]
    scene = GENERATORS[generator](rng, question)
    verb, method = question.split(" ")
    if method != "chain" and verb != "history":
        scene["run"]["method"] = method
    return question, scene
