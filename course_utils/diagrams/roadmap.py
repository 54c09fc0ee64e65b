"""Where the course leads: its thirteen lessons on one page."""

from matplotlib.axes import Axes

from .drawing import Sheet
from .palette import LABEL, NAME, ROLES, SHAPE, SOFT

ROWS = (
    ("The idea", "key", (
        ("Start here", "shapes,\nwho sees whom"), ("Similarity", "which vectors\nare alike"),
        ("Soft lookup", "weights that\nsum to 1"), ("First attention", "a model looks\nback at letters"),
    )),
    ("The machine", "weights", (
        ("Scaled scores", "today's\nformula"), ("Masks", "what must\nnot be seen"), ("Many heads", "several looks\nat once"),
        ("Shared heads", "a cache for\nfast writing"), ("Positions", "telling order\napart"),
    )),
    ("Whole models", "value", (
        ("Layers", "attention in\nits block"), ("Transformer", "encoder and\ndecoder"),
        ("Pronouncing", "a word it has\nnever seen"), ("Writing", "a language model\ngoes on"),
    )),
)  # fmt: skip
WIDTH, HEIGHT, GAP, STEP = 1.5, 0.9, 0.27, 1.36  # inches


def road_map(here: int = 0) -> Axes:
    """The lessons in three rows, each with what it is about; the one you are in has a filled box.

    Args:
        here: Number of the lesson that is marked.
    """
    total = sum(len(lessons) for _, _, lessons in ROWS)
    if not 0 <= here < total:
        raise ValueError(f"here ({here}) must be a lesson, 0 to {total - 1}")
    sheet, number, said = Sheet(), 0, []
    for row, (heading, role, lessons) in enumerate(ROWS):
        y = -row * STEP
        sheet.text(0, y + HEIGHT + 0.14, heading, NAME, ROLES[role], ha="left", weight="bold")
        for place, (name, about) in enumerate(lessons):
            x = place * (WIDTH + GAP)
            sheet.box(x, y, WIDTH, HEIGHT, role=role, fill=0.4 if number == here else 0.1)
            sheet.text(x + WIDTH / 2, y + HEIGHT - 0.2, f"{number:02d} {name}", LABEL, weight="bold")
            sheet.text(x + WIDTH / 2, y + 0.32, about, SHAPE, SOFT)
            if place:
                sheet.arrow((x - GAP + 0.02, y + HEIGHT / 2), (x - 0.02, y + HEIGHT / 2))
            said.append(f"{number:02d} {name}")
            number += 1
    return sheet.done(
        "Road map: "
        + "; ".join(said)
        + f". Rows: {', '.join(heading.lower() for heading, _, _ in ROWS)}. You are in lesson {here:02d}."
    )
