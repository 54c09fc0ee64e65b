"""A case that was made for one mistake: where an answer is wrong there and nowhere else, its label says it best."""

from ..contrast import contrast


def only_in_its_case(view):
    """The label of the one wrong case, before anything that is said of single values."""
    return contrast(view) if len(view.wrong) == 1 and view.inputs[view.first].labels else None
