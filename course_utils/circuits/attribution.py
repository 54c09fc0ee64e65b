"""Direct contributions: what each head, each network and the embedding add to the last stream, and so to each logit.

In a pre-norm model the stream is a sum: the embedding, and what each sublayer added. The last norm divides the sum by one
number for each position; with that number taken as it is, every part's share of a logit can be told, and the shares add up to
the logit exactly. They are *direct* shares: what a head does by way of later heads counts as theirs.

Source:
    Elhage et al., "A Mathematical Framework for Transformer Circuits", 2021 (the stream as a sum); nostalgebraist, "interpreting
    GPT: the logit lens", 2020 (reading the stream with the output's matrix).
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..arguments import require_shape
from ..layers import LayerNorm
from ..models import DecoderLM, Transformer
from ..multi_head import MultiHeadAttention


class Contributions(NamedTuple):
    """The parts of a stream by name, in the order in which they were added, and what turns it into logits.

    ``parts`` are ``(B, L, d_model)`` each, as they lie in the stream: ``"embedding"``, for each attention its heads
    (``"layers.0.self_attention head 2"``) and its bias if it has one, for each network one.
    """

    parts: Mapping[str, Float[Tensor, "B L d_model"]]
    norm: nn.Module
    generator: nn.Linear

    def stream(self) -> Float[Tensor, "B L d_model"]:
        """The sum of all parts: the stream before the last norm."""
        return torch.stack(list(self.parts.values())).sum(dim=0)

    def to_logits(self, tokens: Int[Tensor, "B L"]) -> dict[str, Float[Tensor, "B L"]]:
        """What each part adds to the logit of one token at each position, ``tokens[b, l]``.

        They add up to that logit. What belongs to no part, the biases of the last norm and of the output, is ``"bias"``.

        Raises:
            ValueError: ``tokens`` has another shape than the stream.
        """
        stream = self.stream()
        require_shape("tokens", tokens, "B L", B=stream.shape[0], L=stream.shape[1])
        rows = self.generator.weight[tokens]  # (B, L, d_model)
        centered = isinstance(self.norm, LayerNorm)
        square = (stream - stream.mean(dim=-1, keepdim=True) if centered else stream).pow(2).mean(dim=-1)  # (B, L)
        size = torch.sqrt(square + self.norm.eps)
        shares = {}
        for name, part in self.parts.items():
            part = part - part.mean(dim=-1, keepdim=True) if centered else part
            shares[name] = (part * self.norm.weight * rows).sum(dim=-1) / size  # (B, L)
        bias = (self.norm.bias * rows).sum(dim=-1) if centered else torch.zeros_like(size)
        if self.generator.bias is not None:
            bias = bias + self.generator.bias[tokens]
        return shares | {"bias": bias}

    def logits_so_far(self) -> Iterator[tuple[str, Float[Tensor, "B L V"]]]:
        """The logit lens: after each part, the logits that the last norm and the output make of the stream so far."""
        so_far: Tensor | float = 0.0
        for name, part in self.parts.items():
            so_far = so_far + part
            yield name, self.generator(self.norm(so_far))


@torch.no_grad()
def contributions(model: nn.Module, *inputs: Any, **options: Any) -> Contributions:
    """Run a model and take apart the stream that its logits are read from.

    Args:
        model: A ``DecoderLM``, or a pre-norm ``Transformer`` (then the decoder's stream), in evaluation mode.
        inputs: What the model is called with; ``options`` likewise.

    Raises:
        ValueError: The model is of another kind, is post-norm or has no last norm, or is in training mode (dropout changes what
            the sublayers add).
    """
    layers, prefix, norm = _stack(model)
    if model.training:
        raise ValueError(
            "model is in training mode, where dropout changes what each part adds: call model.eval() first"
        )
    parts: dict[str, Tensor] = {}
    with contextlib.ExitStack() as hooks:
        entering = layers[0].register_forward_pre_hook(lambda _layer, arguments: parts.update(embedding=arguments[0]))
        hooks.callback(entering.remove)
        for name, module in layers.named_modules(prefix=prefix):
            if isinstance(module, MultiHeadAttention):
                hooks.callback(module.o_proj.register_forward_pre_hook(_heads(name, module, parts)).remove)
            elif name.endswith(".feed_forward"):
                hooks.callback(module.register_forward_hook(_whole(name, parts)).remove)
        model(*inputs, **options)
    return Contributions(parts, norm, model.generator)


def _stack(model: nn.Module) -> tuple[nn.ModuleList, str, nn.Module]:
    if isinstance(model, DecoderLM):
        return model.layers, "layers", model.norm
    if not isinstance(model, Transformer):
        raise ValueError(f"model is a {type(model).__name__}; expected a DecoderLM or a Transformer")
    if not model.config.pre_norm or not model.config.final_norm:
        raise ValueError(
            "model must be pre-norm with a last norm (pre_norm=True, final_norm=True): elsewhere the stream is no sum"
        )
    return model.decoder_layers, "decoder_layers", model.decoder_norm


def _heads(name: str, attention: MultiHeadAttention, parts: dict[str, Tensor]):
    def keep(_module: nn.Module, arguments: tuple[Tensor]) -> None:
        of_head = arguments[0].split(attention.d_head, dim=-1)  # H times (B, L, d_head)
        columns = attention.o_proj.weight.split(attention.d_head, dim=1)  # H times (d_model, d_head)
        for head, (output, weight) in enumerate(zip(of_head, columns, strict=True)):
            parts[f"{name} head {head}"] = output @ weight.T  # (B, L, d_model)
        if attention.o_proj.bias is not None:
            parts[f"{name} bias"] = attention.o_proj.bias.expand_as(parts[f"{name} head 0"])

    return keep


def _whole(name: str, parts: dict[str, Tensor]):
    def keep(_module: nn.Module, _arguments: tuple, output: Tensor) -> None:
        parts[name] = output

    return keep
