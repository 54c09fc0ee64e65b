"""Copy PyTorch's packed weights."""

import torch

from ...exercise import Case, Exercise, Fault


def unpack(
    packed, *, cut=lambda weight: weight.chunk(3), cut_bias=lambda bias: bias.chunk(3), order="qkv", bias_order="qkv",
    has_bias=lambda packed: "in_proj_bias" in packed, out=lambda weight: {"o_proj.weight": weight},
    out_bias=lambda bias: {"o_proj.bias": bias}, without=lambda packed: {}, finish=lambda found, packed: found,
):  # fmt: skip
    """The parameters of ``nn.MultiheadAttention`` under the course's names; each keyword is one step."""
    found = dict(zip((f"{name}_proj.weight" for name in order), cut(packed["in_proj_weight"]), strict=True))
    found |= out(packed["out_proj.weight"])
    if has_bias(packed):
        thirds = cut_bias(packed["in_proj_bias"])
        found |= dict(zip((f"{name}_proj.bias" for name in bias_order), thirds, strict=True))
        found |= out_bias(packed["out_proj.bias"])
    elif "in_proj_bias" not in packed:
        found |= without(packed)
    return finish(found, packed)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for d, bias, dtype in ((3, True, torch.float32), (6, True, torch.float64), (9, False, torch.float32)):
        shapes = {"in_proj_weight": (3 * d, d), "out_proj.weight": (d, d)}
        if bias:
            shapes |= {"in_proj_bias": (3 * d,), "out_proj.bias": (d,)}
        packed = {name: torch.randn(*shape, generator=rng, dtype=dtype) for name, shape in shapes.items()}
        cases.append(Case("there are biases" if bias else "there are no biases", packed=packed))
    zeros = {name: value * ("bias" not in name) for name, value in cases[0]["packed"].items()}
    return [*cases, Case("there are biases", "the biases are all 0", packed=zeros)]


def _dealt(tensor):
    return tensor[0::3], tensor[1::3], tensor[2::3]


_NAMES = tuple(f"{name}_proj.bias" for name in "qkvo")
_KEEP = "both sides keep (out, in): copy it as it is."
_THIRD = "the first third of the rows is the query's, the second the key's, the last the value's."
_LEAVE = "leave those keys out."


def _order(name, **orders):
    said = "the three parts stand in another order than PyTorch's."
    return Fault(name, said, "PyTorch stacks query, then key, then value.", **orders)


EXERCISE = Exercise(
    answer="unpack", cases=_cases, reference=unpack, returns=("parameters",),
    faults=(
        *(_order(f"order {order}", order=order, bias_order=order) for order in ("kqv", "qvk", "vkq", "vqk", "kvq")),
        *(Fault(f"biases in the order {order}", "the biases stand in another order than query, key, value.",
            "the biases are stacked as the matrices: query, key, value.", bias_order=order) for order in ("kqv", "qvk", "vkq")),
        Fault("cut along the inputs", "the matrix was cut along its last axis, the inputs: (3 * d_model, d_model / 3).",
            "the matrices are stacked along the first axis, the outputs: chunk(3, dim=0).", cut=lambda t: t.chunk(3, -1)),
        Fault("every third row", "the rows are dealt out in turn: 0, 3, 6 to the query and so on.",
            _THIRD, cut=_dealt, cut_bias=_dealt),
        Fault("transposed", "the three matrices are transposed.", _KEEP, cut=lambda t: [part.T for part in t.chunk(3)]),
        Fault("output transposed", "the output matrix is transposed.", _KEEP, out=lambda t: {"o_proj.weight": t.T}),
        Fault("not cut", "the whole packed tensor is given to each of the three.",
            _THIRD, cut=lambda t: (t, t, t), cut_bias=lambda t: (t, t, t)),
        Fault("output not renamed", "the output projection kept PyTorch's name, out_proj.",
            "in this course it is o_proj.", out=lambda t: {"out_proj.weight": t}, out_bias=lambda t: {"out_proj.bias": t}),
        Fault("biases forgotten", "the biases are missing where the module has some.",
            "cut in_proj_bias as the matrix, and copy out_proj.bias.", has_bias=lambda p: False),
        Fault("zeros taken for none", "biases that are all 0 were left out, as if there were none.",
            'ask whether "in_proj_bias" is in the dict, not what its numbers are.',
            has_bias=lambda p: "in_proj_bias" in p and p["in_proj_bias"].any()),
        Fault("float64 lost", "the numbers are right, but float64 came back as float32, as where they go through lists.",
            "use the parts of the tensors themselves, or keep their dtype.",
            finish=lambda f, p: {name: torch.tensor(value.tolist()) for name, value in f.items()}),
        Fault("biases required", "in_proj_bias is read even where the module has no biases.",
            'ask first whether "in_proj_bias" is in the dict.', has_bias=lambda p: True),
        Fault("zeros for missing biases", "biases of zeros were made up where the module has none.", _LEAVE,
            without=lambda p: {name: p["out_proj.weight"].new_zeros(len(p["out_proj.weight"])) for name in _NAMES}),
        Fault("None for missing biases", "None was stored for the biases that do not exist.", _LEAVE,
            without=lambda p: dict.fromkeys(_NAMES)),
        Fault("packed kept", "PyTorch's packed parameters are still among the keys of your result.",
            "start from an empty dict and put in only the names in the table's right column.", finish=lambda f, p: p | f),
    ),
    advice="compare your keys and shapes with the table of the task; the rows of a matrix are its outputs.",
)  # fmt: skip
