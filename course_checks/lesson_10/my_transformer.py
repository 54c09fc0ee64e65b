"""10.5 · Assemble the model, for several sources."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import stops_with, symptom
from ..running.encode import decode
from .common import no_gradient, padded

SIZES = ("src_vocab", "tgt_vocab", "num_layers", "d_model", "d_ff", "num_heads", "max_len")


def cases(seed):
    """The first is small and quick, as mistakes are tried on it; on the second the model is called again."""
    rng = torch.Generator().manual_seed(seed)
    made = []
    for sizes, sources, targets, pad_id in (
        ((8, 9, 1, 4, 6, 2, 12), ((5, 2), (3, 4)), (3, 4), 0),
        ((9, 7, 2, 6, 10, 3, 9), ((3, 5, 4), (2, 4, 1), (5, 0, 0)), (4, 2, 3), 2),
        ((7, 7, 2, 8, 5, 4, 20), ((4,), (2,)), (4, 1), 5),
    ):
        low, width = 0 if pad_id else 3, max(map(max, sources))

        def batch(sources, targets, low=low, width=width, sizes=sizes, pad_id=pad_id):
            pairs = [padded(rng, some, width, sizes[0], pad_id, low) for some in sources]  # (K, L_s) each
            return torch.stack(pairs), padded(rng, targets, max(targets), sizes[1], pad_id, low)

        (source, target), second = batch(sources, targets), batch(sources[::-1], targets[::-1])
        driver = {"second": [*second] if len(made) == 1 else [], "seed": seed}
        arguments = dict(zip(SIZES, sizes, strict=True), sources=source, target=target, pad_id=pad_id)
        made.append(Case(driver=driver, **arguments))
    return made


def other_parts(answer):
    """What the model is made of: parts that are missing, share weights, drop, or have another size."""
    for index in answer.wrong:
        sides = [side[index] for side in (answer.expected, answer.observed)]
        if any(side["outcome"] != "returned" for side in sides):
            return None
        expected, actual = (decode(side["value"])[0] for side in sides)
        for looks_like, advice in _parts(expected, actual, answer.cases[index]["max_len"]):
            return symptom(looks_like, advice, looks_like.rstrip("."))
    return None


def _parts(expected, actual, max_len):
    """What differs between two descriptions of a model, and what to try."""
    if missing := [name for name in expected["parameters"] if name not in actual["parameters"]]:
        looks_like = (
            f"there are no parameters under {_listed(missing)}: missing, named otherwise, or in a plain Python list."
        )
        yield looks_like, "compare your attributes with the table; layers belong in an nn.ModuleList."
    if shared := actual["sharing weights"]:
        looks_like = (
            f"{_listed(shared)} share{'s' * (len(shared) == 1)} weights; each layer and each part is to have its own."
        )
        yield looks_like, "make a new part for each attribute, and a new layer each time: no [layer] * N."
    if actual["with dropout"]:
        looks_like = f"dropout is on in {_listed(actual['with dropout'])}: the layers' own default is 0.1."
        yield looks_like, "hand dropout=0.0 to every layer."
    for name in expected["positions"]:
        rows = actual["positions"].get(name)
        if rows is None:
            looks_like = f"no positions are added in `{name}`: the model could not tell one order from another."
            yield looks_like, "hand positions=SinusoidalPositions(d_model, max_len) to InputEmbedding."
        elif rows != max_len:
            looks_like = f"the positions of `{name}` are made for {rows} symbols, where max_len is {max_len}."
            yield looks_like, "hand max_len to SinusoidalPositions."
    for name, count in expected["parameters"].items():
        if actual["parameters"][name] != count:
            looks_like = f"`{name}` has {actual['parameters'][name]} parameters, where {count} are right."
            yield looks_like, "check its sizes; a stack has num_layers layers, each made anew: no [x] * N."


def _listed(names):
    return " and ".join(f"`{name}`" for name in names)


def keeps_the_first_batch(answer):
    """Right for the first batch, wrong in a later call."""
    if [part.name for part in answer.parts()] != ["logits of later calls"]:
        return None
    looks_like = "right in the first call, wrong in a later one of the same model, with another batch or other weights."
    return symptom(looks_like, "keep nothing from one call of forward to the next.", "keeps the first batch")


EXERCISE = Exercise(
    cases,
    returns=("parts", "logits", "logits of later calls", "gradients"),
    expects="class",
    driver="drive_model",
    off_limits=(
        *("course_utils.models.transformer.Transformer", "torch.nn.Transformer"),
        *("torch.nn.TransformerEncoder", "torch.nn.TransformerDecoder"),
    ),
    pairs=15,
    symptoms=(
        stops_with(
            "Module.__init__() call",
            "the constructor sets a part before nn.Module is ready.",
            "call super().__init__() on the first line of __init__.",
        ),
        *(other_parts, keeps_the_first_batch, no_gradient),
    ),
    advice="compare your parts, their names and your forward with the tables of the task: what goes where, with which mask.",
)
