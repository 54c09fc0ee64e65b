"""Lesson 09: what is off limits, and how the layers are run."""

import torch
from torch import nn

from ....layers import FeedForward
from ....multi_head import MultiHeadAttention
from ..probe import Probe

NETWORKS = tuple(f"course_utils.layers.feed_forward.{name}" for name in ("FeedForward", "SwiGLU"))
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


class _SmallLayer(nn.Module):
    """Stands for an encoder layer: each token gets the mean of those it may see, through a matrix of its own."""

    def __init__(self, matrix):
        super().__init__()
        self.matrix = nn.Parameter(matrix.clone())

    def forward(self, x, mask=None):
        seen = torch.ones(1, 1, 1, x.shape[1]) if mask is None else mask.float()  # (B, 1, 1, L)
        mean = (seen[:, 0] @ x) / seen[:, 0].sum(-1, keepdim=True)  # (B, 1, d)
        return x + torch.tanh((x + mean) @ self.matrix)


def _run_stack(answer, case):
    """The output, the number of parameters, and the gradients of the layers in the order they were made, and of the rest."""
    made, running = [], False

    def make_layer():
        if running:
            raise RuntimeError("make_layer() was called in forward; make all layers once, in the constructor")
        made.append(_SmallLayer(case["_matrices"][len(made) % len(case["_matrices"])]))
        return made[-1]

    stack = answer(make_layer, case["num_layers"], case["x"].shape[-1])
    running = True
    size = sum(parameter.numel() for parameter in stack.parameters())
    known = [layer.matrix for layer in made]
    watched = [*known, *(p for p in stack.parameters() if not any(p is matrix for matrix in known))]
    output = stack(case["x"], case["mask"])
    gradients = [torch.zeros_like(parameter) for parameter in watched]
    if isinstance(output, torch.Tensor) and output.requires_grad:
        slope = torch.linspace(-1.0, 1.5, output.numel()).view(output.shape).cos()
        gradients = torch.autograd.grad(
            (output * slope).sum(), watched, allow_unused=True, retain_graph=True, materialize_grads=True
        )
    return output, size, list(gradients[: len(made)]), list(gradients[len(made) :])


def _run_attentions(answer, case):
    """What stands at the target's padding is nobody's business: it is set to 0."""
    torch.default_generator.manual_seed(case["_seed"])
    attentions = [MultiHeadAttention(case["x"].shape[-1], case["_heads"]).to(case["x"].dtype) for _ in range(2)]
    for attention in attentions:
        for parameter in attention.parameters():
            nn.init.normal_(parameter, std=1.3 * parameter.shape[-1] ** -0.5)
    output = answer(case["x"], case["memory"], case["target"], case["source"], *attentions)
    fits = isinstance(output, torch.Tensor) and output.shape == case["x"].shape
    return output * (case["target"] != 0)[..., None] if fits else output


STACKS = ("course_utils.models.transformer.Transformer", "course_utils.models.decoder_lm.DecoderLM")

PROBES = {
    "layer_norm": Probe(off_limits=NORMS, gradients=True),
    "rms_norm": Probe(off_limits=NORMS, gradients=True),
    "feed_forward": Probe(off_limits=NETWORKS, gradients=True),
    "Residual": Probe(call=_run_residual, expects="class", off_limits=READY_MADE, gradients=True),
    "EncoderLayer": Probe(call=_run_encoder, expects="class", off_limits=READY_MADE, gradients=True),
    "DecoderLayer": Probe(call=_run_decoder, expects="class", off_limits=READY_MADE, gradients=True),
    "Stack": Probe(call=_run_stack, expects="class", off_limits=STACKS, gradients=True),
    "two_attentions": Probe(call=_run_attentions, gradients=True),
}
