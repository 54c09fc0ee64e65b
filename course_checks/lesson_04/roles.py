"""4.2 · Who asks, who is asked, who answers?"""

import itertools

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import symptom

NAMES = ("queries", "keys", "values")


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    kinds = list(itertools.product(("x", "memory"), repeat=3))
    order = torch.randperm(len(kinds), generator=rng).tolist()
    made = []
    for sizes in ((3, 3), (4, 6), (6, 4)):
        for kind in order:
            where = dict(zip(NAMES, kinds[kind], strict=True))
            number = int(torch.randint(10_000, (), generator=rng))
            made.append(Case(L=sizes[0], d=sizes[1], driver={**where, "seed": number}))
    return made


def what_is_wrong(answer):
    """Which of the three are wrong, and in which layers, as seen from the values' sequence."""
    failing, seen_all = {name: set() for name in NAMES}, set()
    for index, seen in enumerate(answer.observed):
        right = [item["value"] for item in answer.expected[index]["value"]["value"]]
        said = seen["value"] if seen["outcome"] == "returned" else {"kind": "nothing"}
        if said["kind"] not in ("list", "tuple") or len(said["value"]) != len(NAMES):
            return None
        layer = tuple(name for name, source in zip(NAMES[:2], right, strict=False) if source != right[2])
        seen_all.add(layer)
        for name, source, item in zip(NAMES, right, said["value"], strict=True):
            if item.get("value") not in ("x", "memory"):
                return None
            if item["value"] != source:
                failing[name].add(layer)
    wrong = [name for name in NAMES if failing[name]]
    if not wrong:
        return None
    layers, right = set().union(*failing.values()), [name for name in NAMES if name not in wrong]
    where = "in layers of every kind"
    if len(layers) < len(seen_all):
        most = len(layers) > 2
        named = sorted(seen_all - layers if most else layers)
        where = f"only in layers {'other than those ' * most}in which {', or in which '.join(KINDS[kind] for kind in named)}"
    sentence = f"the {' and the '.join(wrong)} are found wrong, {where}"
    if right:
        sentence += f"; the {' and the '.join(right)} are right in every layer"
    advice = "make such layers with layer_from, and print each thing that your function finds out of them."
    return symptom(f"{sentence}.", advice, f"{' and '.join(wrong)} wrong")


KINDS = {
    (): "all three come from one sequence",
    ("queries",): "the queries alone come from the other sequence than the values",
    ("keys",): "the keys alone come from the other sequence than the values",
    ("queries", "keys"): "queries and keys both come from the other sequence than the values",
}

EXERCISE = Exercise(
    cases,
    returns=("roles",),
    driver="which_gives_what",
    twice=False,
    symptoms=(what_is_wrong,),
    pairs=40,
    advice="call layer_from with all eight kinds, and print what your function says of each.",
)
