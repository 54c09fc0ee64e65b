"""Lesson 09: what is off limits, and how the layers are run."""

import functools
import itertools

import torch
from torch import nn

from ....layers import FeedForward
from ....multi_head import MultiHeadAttention
from ..probe import Probe

GELUS = (
    *(f"torch.nn.{name}" for name in ("functional.gelu", "GELU")),
    *(f"torch.special.{name}" for name in ("ndtr", "log_ndtr")),
    "torch.distributions.Normal",
)
NORMS = (
    *(f"torch.nn.functional.{name}_norm" for name in ("layer", "rms", "group", "instance", "batch")),
    *(f"torch.{name}_norm" for name in ("layer", "native_layer", "rms", "group", "batch")),
    *(f"torch.nn.{name}Norm" for name in ("Layer", "RMS", "Group")),
    *(f"course_utils.layers.norms.{name}" for name in ("layer_norm", "rms_norm", "LayerNorm", "RMSNorm")),
)
LAYERS = ("residual.Residual", "encoder.EncoderLayer", "decoder.DecoderLayer", "decoder_only.DecoderOnlyLayer")
READY_MADE = (
    *(f"course_utils.layers.{name}" for name in LAYERS),
    *(f"torch.nn.Transformer{name}Layer" for name in ("Encoder", "Decoder")),
)


def _with_norms(layer, case, *given):
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
    torch.default_generator.manual_seed(case["_seed"])
    return layer(*given)


def _run_residual(answer, case):
    residual = answer(case["x"].shape[-1], case["dropout"], case["pre_norm"])
    return _with_norms(residual, case, case["x"], lambda y: torch.tanh(y @ case["_matrix"].T + 0.3))


def _filled(layer, case, *names):
    """A layer with the check's numbers in its attentions and its network; dropout acts in ``layer.dropout`` alone."""
    for offset, name in enumerate(names):
        part = getattr(layer, name, None)
        if not isinstance(part, nn.Module):
            raise ValueError(f"self.{name} is not there; leave the constructor as it is, with its names")
        torch.default_generator.manual_seed(case["_seed"] + offset)
        for parameter in part.to(case["x"].dtype).parameters():
            nn.init.normal_(parameter, std=0.3 if parameter.dim() == 1 else 1.2 * parameter.shape[-1] ** -0.5)
    for part in layer.modules():
        if isinstance(part, MultiHeadAttention):
            part.dropout = 0.0
        if isinstance(part, FeedForward):
            part.dropout.p = 0.0
    return layer


def _run_encoder(answer, case):
    layer = answer(case["x"].shape[-1], case["num_heads"], case["d_ff"], case["dropout"], case["pre_norm"])
    return _with_norms(_filled(layer, case, "self_attention", "feed_forward"), case, case["x"], case["mask"])


def _run_decoder(answer, case):
    layer = answer(case["x"].shape[-1], case["num_heads"], case["d_ff"], case["dropout"])
    layer = _filled(layer, case, "self_attention", "cross_attention", "feed_forward")
    return _with_norms(layer, case, case["x"], case["memory"], case["target_mask"], case["memory_mask"])


def _run_wired(answer, case):
    """Attention and network that mix tokens and features, and norms that differ: all drawn from the case's seed."""
    x, rng = case["x"], torch.Generator().manual_seed(case["_seed"])
    d = x.shape[-1]

    def matrix():
        return (torch.randn(d, d, generator=rng) / d**0.5).to(x.dtype)

    across, inside, scales = (
        matrix(),
        matrix(),
        [(1 + 0.5 * torch.randn(d, generator=rng)).to(x.dtype) for _ in range(4)],
    )
    norms = [lambda y, scale=scale: torch.nn.functional.layer_norm(y, (d,)) * scale for scale in scales]

    def attend(y):
        return torch.tanh(y.cumsum(dim=1) @ across)

    def network(y):
        return torch.relu(y @ inside) + 0.3 * y

    given = norms if case["wiring"] == "sandwich" else norms[:1]
    return _left_alone("norms", given, lambda: answer(x, attend, network, given, case["wiring"]))


def _run_record(answer, case):
    """Sublayers that differ, to be called once; one may hand its argument back as it is, one count its calls."""
    rng = torch.Generator().manual_seed(case["_seed"])
    d = case["x"].shape[-1]
    matrices = [(torch.randn(d, d, generator=rng) / d**0.5).to(case["x"].dtype) for _ in range(case["_count"])]
    sublayers = [lambda y, matrix=matrix: torch.tanh(y @ matrix + 0.2) for matrix in matrices]
    if case["_back"] >= 0:
        sublayers[case["_back"]] = lambda y: y
    if case["_moody"] >= 0:
        steady, calls = sublayers[case["_moody"]], itertools.count(1)
        sublayers[case["_moody"]] = lambda y: next(calls) * steady(y)
    given = list(map(_once, sublayers))
    return _left_alone("sublayers", given, lambda: answer(case["x"], given))


def _left_alone(name, given, call):
    before = list(given)
    result = call()
    if given != before:
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


PROBES = {
    "layer_norm": Probe(off_limits=NORMS, gradients=True),
    "rms_norm": Probe(off_limits=NORMS, gradients=True),
    "gelu": Probe(off_limits=GELUS, gradients=True),
    "Residual": Probe(call=_run_residual, expects="class", off_limits=READY_MADE, gradients=True),
    "EncoderLayer": Probe(call=_run_encoder, expects="class", off_limits=READY_MADE, gradients=True),
    "DecoderLayer": Probe(call=_run_decoder, expects="class", off_limits=READY_MADE, gradients=True),
    "wired": Probe(call=_run_wired, gradients=True),
    "record_stream": Probe(call=_run_record, gradients=True),
    "growth_results": Probe(expects="value"),
}
