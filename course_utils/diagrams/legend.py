"""What the colors and marks of all diagrams mean, once for the whole course."""

import torch
from matplotlib.axes import Axes

from .cards import Table
from .palette import CELL, LABEL, ROLES, SHAPE, SOFT

SAID = {
    "query": "query: what a token asks", "key": "key: what a token offers", "value": "value: what a token hands over",
    "scores": "scores: how well they fit", "weights": "weights: how much is taken, 0 to 1", "output": "output",
    "cache": "cache: kept from before", "position": "positions and embeddings",
}  # fmt: skip


def legend() -> Axes:
    """The colors of the roles, and how cells, masks, stacks and operations are drawn."""
    sheet = Table()
    for place, (role, said) in enumerate(SAID.items()):
        x, y = (place // 4) * 3.6, -(place % 4) * 0.42
        sheet.box(x, y, 0.5, 0.34, "", role, fill=0.3)
        sheet.text(x + 0.62, y + 0.17, said, LABEL, ROLES[role], ha="left")
    y, x = -2.35, 0.0
    values = torch.tensor([[2.0, -2.0, 0.3, 0.0, 1.0]])
    card = sheet.card(values, x, y, "plain", hidden=torch.tensor([[False, False, False, False, True]]), limit=2.0)
    for place, said in enumerate(("above 0", "below 0", "near 0", "exactly 0", "hidden by\na mask")):
        sheet.text(card.x + (place + 0.5) * CELL, y - 0.08, said, SHAPE - 0.5, SOFT, ha="right", va="top", rotation=50)
    sheet.card(torch.tensor([[1.0, -1.0], [0.5, 2.0]]), 2.7, y - 0.15, "value", stack=4, write=False)
    sheet.text(3.1, y - 0.3, "batch or heads:\na stack, one in full", SHAPE, SOFT, va="top")
    sheet.arrow((4.6, y + 0.2), (5.7, y + 0.2), "softmax")
    sheet.text(5.15, y - 0.3, "an operation", SHAPE, SOFT, va="top")
    sheet.plus(6.7, y + 0.2)
    sheet.text(6.7, y - 0.3, "a sum", SHAPE, SOFT, va="top")
    return sheet.done(
        "Legend of all diagrams: "
        + "; ".join(SAID.values())
        + ". Red cells are above 0, blue ones below, white ones exactly 0, hatched ones hidden by a mask; a stack of cards is a "
        "batch or heads; an arrow is an operation; a circle with a plus a sum."
    )
