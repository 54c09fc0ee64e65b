"""The course on a page: what colors and marks mean in all diagrams, and where the lessons lead."""

import torch
from matplotlib.axes import Axes

from .drawing import Drawing
from .grids import GridDrawing
from .palette import CELL, COLORS, LABEL, NAME, SHAPE, SOFT

MEANINGS = {
    "query": "query: what a token asks", "key": "key: what a token offers", "value": "value: what a token hands over",
    "scores": "scores: how well they fit", "weights": "weights: how much is taken, 0 to 1", "output": "output",
    "cache": "cache: kept from before", "position": "positions and embeddings",
}  # fmt: skip


def legend() -> Axes:
    """The colors of the roles, and how cells, masks, stacks and operations are drawn."""
    draw = GridDrawing()
    for place, (role, text) in enumerate(MEANINGS.items()):
        x, y = (place // 4) * 3.6, -(place % 4) * 0.42
        draw.box(x, y, 0.5, 0.34, "", role, fill=0.3)
        draw.text(x + 0.62, y + 0.17, text, LABEL, COLORS[role], ha="left")
    y, x = -2.35, 0.0
    values = torch.tensor([[2.0, -2.0, 0.3, 0.0, 1.0]])
    grid = draw.grid(values, x, y, "plain", hidden=torch.tensor([[False, False, False, False, True]]), limit=2.0)
    for place, text in enumerate(("above 0", "below 0", "near 0", "exactly 0", "hidden by\na mask")):
        draw.text(grid.x + (place + 0.5) * CELL, y - 0.08, text, SHAPE - 0.5, SOFT, ha="right", va="top", rotation=50)
    draw.grid(torch.tensor([[1.0, -1.0], [0.5, 2.0]]), 2.7, y - 0.15, "value", stack=4, write=False)
    draw.text(3.1, y - 0.3, "batch or heads:\na stack, one in full", SHAPE, SOFT, va="top")
    draw.arrow((4.6, y + 0.2), (5.7, y + 0.2), "softmax")
    draw.text(5.15, y - 0.3, "an operation", SHAPE, SOFT, va="top")
    draw.plus(6.7, y + 0.2)
    draw.text(6.7, y - 0.3, "a sum", SHAPE, SOFT, va="top")
    return draw.finish(
        "Legend of all diagrams: "
        + "; ".join(MEANINGS.values())
        + ". Red cells are above 0, blue ones below, white ones exactly 0, hatched ones hidden by a mask; a stack of cards is a "
        "batch or heads; an arrow is an operation; a circle with a plus a sum."
    )


ROWS = (
    ("The idea", "key", (
        ("Start here", "shapes,\nwho sees whom"), ("Similarity", "which vectors\nare alike"),
        ("Soft lookup", "weights that\nsum to 1"), ("First attention", "a model looks\nback at letters")
    )),
    ("The machine", "weights", (
        ("Scaled scores", "today's\nformula"), ("Masks", "what must\nnot be seen"), ("Many heads", "several looks\nat once"),
        ("Shared heads", "a cache for\nfast writing"), ("Positions", "telling order\napart")
    )),
    ("Whole models", "value", (
        ("Layers", "attention in\nits block"), ("Transformer", "encoder and\ndecoder"),
        ("Pronouncing", "a word it has\nnever seen"), ("Writing", "a model that\ncontinues a text")
    )),
    ("Beyond", "output", (
        ("Looking inside", "what heads do,\nand what for"), ("Long contexts", "a text longer\nthan its memory"),
        ("Across machines", "one text on\nseveral ranks")
    )),
)  # fmt: skip
WIDTH, HEIGHT, GAP, STEP = 1.5, 0.9, 0.27, 1.36  # inches


def road_map(here: int = 0) -> Axes:
    """The lessons in four rows, each with what it is about; the one you are in has a filled box.

    Args:
        here: Number of the lesson that is marked.
    """
    total = sum(len(lessons) for _, _, lessons in ROWS)
    if not 0 <= here < total:
        raise ValueError(f"here ({here}) must be a lesson, 0 to {total - 1}")
    draw, number, headings = Drawing(), 0, []
    for row, (heading, role, lessons) in enumerate(ROWS):
        y = -row * STEP
        draw.text(0, y + HEIGHT + 0.14, heading, NAME, COLORS[role], ha="left", weight="bold")
        for place, (name, about) in enumerate(lessons):
            x = place * (WIDTH + GAP)
            draw.box(x, y, WIDTH, HEIGHT, role=role, fill=0.4 if number == here else 0.1)
            draw.text(x + WIDTH / 2, y + HEIGHT - 0.2, f"{number:02d} {name}", LABEL, weight="bold")
            draw.text(x + WIDTH / 2, y + 0.32, about, SHAPE, SOFT)
            if place:
                draw.arrow((x - GAP + 0.02, y + HEIGHT / 2), (x - 0.02, y + HEIGHT / 2))
            headings.append(f"{number:02d} {name}")
            number += 1
    return draw.finish(
        "Road map: "
        + "; ".join(headings)
        + f". Rows: {', '.join(heading.lower() for heading, _, _ in ROWS)}. You are in lesson {here:02d}."
    )
