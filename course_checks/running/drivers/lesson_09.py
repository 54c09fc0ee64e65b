"""How the decoder layer of lesson 09 is made and run, and what connections, wirings and records are given."""

import functools
import itertools

import torch
from torch import nn

from course_utils.layers import FeedForward
from course_utils.multi_head import MultiHeadAttention

from ..counting import counted


def _with_norms(layer, case, *arguments):
    """Call a layer, in training or not, with the case's tensors in the place of its norms' parameters."""
    for name, value in case.items():
        if name.startswith("norm"):
            norm, parameter = name.split(".")
            kept = getattr(layer, norm, None)
            if not isinstance(kept, nn.Module) or parameter not in dict(kept.named_parameters(recurse=False)):
                raise ValueError(f"self.{name} is not there; leave the constructor as it is, with its names")
            delattr(kept, parameter)
            setattr(kept, parameter, value)  # a plain tensor, so that a gradient can reach it
    layer.train(case["training"])
    torch.default_generator.manual_seed(case.driver["seed"])
    return layer(*arguments)


def _filled(layer, case, *names):
    """A layer with the check's numbers in its attentions and its network; dropout acts in ``layer.dropout`` alone."""
    for offset, name in enumerate(names):
        part = getattr(layer, name, None)
        if not isinstance(part, nn.Module):
            raise ValueError(f"self.{name} is not there; leave the constructor as it is, with its names")
        torch.default_generator.manual_seed(case.driver["seed"] + offset)
        for parameter in part.to(case["x"].dtype).parameters():
            nn.init.normal_(parameter, std=0.3 if parameter.dim() == 1 else 1.2 * parameter.shape[-1] ** -0.5)
    for part in layer.modules():
        if isinstance(part, MultiHeadAttention):
            part.dropout = 0.0
        if isinstance(part, FeedForward):
            part.dropout.p = 0.0
    return layer


def _memories(case):
    """The memories and their masks, as lists."""
    numbers = range(1, 1 + sum(name.startswith("memory_") for name in case))
    return [case[f"memory_{n}"] for n in numbers], [case[f"mask_{n}"] for n in numbers]


def drive_decoder(answer, case):
    """The whole decoder layer, with memories and masks in lists."""
    layer = answer(case["x"].shape[-1], case["num_heads"], case["d_ff"], case["dropout"])
    layer = _filled(layer, case, "self_attention", "cross_attention", "feed_forward")
    memories, masks = _memories(case)
    call = lambda: _with_norms(layer, case, case["x"], memories, case["target_mask"], masks)  # noqa: E731
    return _left_alone("memory_masks", masks, lambda: _left_alone("memories", memories, call))


def _connection(case):
    """The connection that a case names, with norms that are fresh or look trained."""
    rng, d = torch.Generator().manual_seed(case.driver["seed"]), case["d_model"]
    norms = [nn.LayerNorm(d), nn.LayerNorm(d)]
    for norm in norms:
        if case.driver["trained"]:
            norm.weight.data += 0.5 * torch.randn(d, generator=rng)
            norm.bias.data += torch.randn(d, generator=rng)
    first, second = (norm.requires_grad_(False) for norm in norms)

    def lost_path(x, sublayer):
        y = first(x)
        return y + sublayer(y)

    kinds = {
        "no norm": lambda x, sublayer: x + sublayer(x),
        "pre-norm": lambda x, sublayer: x + sublayer(first(x)),
        "post-norm": lambda x, sublayer: first(x + sublayer(x)),
        "sandwich": lambda x, sublayer: x + second(sublayer(first(x))),
        "lost path": lost_path,
    }
    return kinds[case.driver["wiring"]]


def drive_wiring(answer, case):
    """With a connection that the answer can't look into."""
    return answer(counted(_connection(case), 1000, "connection"), case["d_model"])


def _around(case):
    """Attention and network that mix tokens and features, and four norms that differ, all drawn from the case's seed."""
    x, rng = case["x"], torch.Generator().manual_seed(case.driver["seed"])
    d = x.shape[-1]
    across, inside = ((torch.randn(d, d, generator=rng) / d**0.5).to(x.dtype) for _ in range(2))
    scales = [(1 + 0.5 * torch.randn(d, generator=rng)).to(x.dtype) for _ in range(4)]
    norms = [lambda y, scale=scale: nn.functional.layer_norm(y, (d,)) * scale for scale in scales]

    def attend(y):
        return torch.tanh(y.cumsum(dim=1) @ across)

    def network(y):
        return torch.relu(y @ inside) + 0.3 * y

    norms = norms if case["wiring"] == "sandwich" else norms[:1]
    return {"attend": counted(attend, 10, "attend"), "network": counted(network, 10, "network"), "norms": norms}


def drive_wired(answer, case):
    """With an attention, a network and norms of its own."""
    parts = _around(case)
    return _left_alone("norms", parts["norms"], lambda: answer(case["x"], *parts.values(), case["wiring"]))


def _sublayers(case):
    """Sublayers that differ; one may hand its argument back as it is, one count its calls."""
    rng = torch.Generator().manual_seed(case.driver["seed"])
    d = case["x"].shape[-1]
    matrices = [(torch.randn(d, d, generator=rng) / d**0.5).to(case["x"].dtype) for _ in range(case.driver["number"])]
    sublayers = [lambda y, matrix=matrix: torch.tanh(y @ matrix + 0.2) for matrix in matrices]
    back, changing = case.driver.get("back"), case.driver.get("changing")
    if back is not None:
        sublayers[back] = lambda y: y
    if changing is not None:
        steady, calls = sublayers[changing], itertools.count(1)
        sublayers[changing] = lambda y: next(calls) * steady(y)
    return sublayers


def drive_record(answer, case):
    """Every sublayer may be called once."""
    sublayers = [_once(sublayer) for sublayer in _sublayers(case)]
    return _left_alone("sublayers", sublayers, lambda: answer(case["x"], sublayers))


def _left_alone(name, items, call):
    before = list(items)
    result = call()
    if items != before:
        raise ValueError(f"the list `{name}` is not as it was; change no argument: loop over the list, without pop")
    return result


def _once(sublayer):
    calls = itertools.count(1)

    @functools.wraps(sublayer)
    def called(y):
        if next(calls) > 1:
            raise RuntimeError("a sublayer was called a second time")
        return sublayer(y)

    return called


SHOWN = {
    "drive_wiring": lambda case: {"connection": _connection(case), "d_model": case["d_model"]},
    "drive_decoder": lambda case: {
        "x": case["x"],
        "memories": _memories(case)[0],
        "target_mask": case["target_mask"],
        "memory_masks": _memories(case)[1],
    },
    "drive_wired": lambda case: {"x": case["x"], **_around(case), "wiring": case["wiring"]},
    "drive_record": lambda case: {"x": case["x"], "sublayers": _sublayers(case)},
}
