"""What can be seen in the lesson's answers besides the general symptoms."""

from ....probes.codec import decode
from ...symptoms.view import Told


def _stopped(words, name, said, advice):
    """A symptom: the first wrong case ends in an error with these words in it."""

    def symptom(view):
        seen = view.cases[view.first]
        stopped = seen["outcome"] == "raised" and words in seen["message"]
        return Told("symptom", name, said, advice) if stopped else None

    return symptom


super_forgotten = _stopped(
    "Module.__init__() call", "super().__init__() forgotten", "the constructor sets a part before nn.Module is ready.",
    "call super().__init__() on the first line of __init__.",
)  # fmt: skip
endless = _stopped(
    "does your loop end?", "endless", "the model is still asked for symbols after max_len steps.",
    "count the steps, and stop after max_len of them, or when all have ended.",
)  # fmt: skip
memory_of_one_row = _stopped(
    "and a memory of shape (1,", "memory of one row", "decode was given all K candidates, and a memory that has only one row.",
    "show the one row K times, a row for each candidate: look up expand. encode is still called once.",
)  # fmt: skip


def other_parts(view):
    """What the model is made of: parts that are missing, share weights, drop, or have another size."""
    for index in view.wrong:
        sides = [side[index] for side in (view.expected, view.cases)]
        if any(side["outcome"] != "returned" for side in sides):
            return None
        want, have = (decode(side["value"])[0] for side in sides)
        for name, said, advice in _parts(want, have, view.inputs[index]["max_len"]):
            return Told("symptom", name, said, advice)
    return None


def _parts(want, have, max_len):
    """(name, what is told, advice) of what differs between two descriptions of a model."""
    missing = [name for name in want["parameters"] if name not in have["parameters"]]
    if missing:
        said = f"there are no parameters under {_listed(missing)}: missing, named otherwise, or in a plain Python list."
        yield "parts missing", said, "compare your attributes with the table; layers belong in an nn.ModuleList."
    if have["sharing weights"]:
        said = f"{_listed(have['sharing weights'])} share weights; each is to have its own."
        yield "parts share weights", said, "make a new part for each attribute; assign none to a second name."
    if have["with dropout"]:
        said = f"dropout is on in {_listed(have['with dropout'])}: the layers' own default is 0.1."
        yield "dropout on", said, "hand dropout=0.0 to every layer."
    for name in want["positions"]:
        rows = have["positions"].get(name)
        if rows is None:
            said = f"no positions are added in {_listed([name])}: the model could not tell one order from another."
            yield "positions forgotten", said, "hand positions=SinusoidalPositions(d_model, max_len) to InputEmbedding."
        elif rows != max_len:
            said = f"the positions of {_listed([name])} are made for {rows} symbols, where max_len is {max_len}."
            yield "max_len ignored", said, "hand max_len to SinusoidalPositions."
    for name, count in want["parameters"].items():
        if have["parameters"][name] != count:
            said = f"{_listed([name])} has {have['parameters'][name]} parameters, where {count} are right."
            yield "another size", said, "check its sizes; a stack has num_layers layers, each made anew: no [x] * N."


def _listed(names):
    return " and ".join(f"`{name}`" for name in names)


def keeps_the_first_batch(view):
    """Right for the first batch, wrong in a later call."""
    if [part.name for part in view.parts()] != ["logits of later calls"]:
        return None
    said = "right in the first call, wrong in a later one of the same model, with another batch or with other weights."
    return Told("symptom", "keeps the first batch", said, "keep nothing from one call of forward to the next.")


def no_gradient(view):
    """The values are right, but gradients do not reach the parts that they should."""
    parts = view.parts()
    if [part.name.split()[0] for part in parts] not in (["gradient"], ["gradients"]):
        return None
    want, have = decode(parts[0].pairs[0].want), decode(parts[0].pairs[0].have)
    if not isinstance(want, dict):
        want, have = {"the model": want}, {"the model": have}
    cut = [name for name in want if name in have and want[name].any() and not have[name].any()]
    said = f"the values are right, but no gradient reaches {' and '.join(cut)}: nothing could be learned there."
    advice = "leave out detach, torch.no_grad, .item() and .data; return the tensor itself."
    return Told("symptom", "no gradient", said, advice) if cut else None
