"""The residual connection by itself, for any sublayer. The course's layers spell theirs out."""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

from ..arguments import require_probability
from .norms import LayerNorm


class Residual(nn.Module):
    """The connection around a sublayer: ``x + dropout(sublayer(norm(x)))``, or post-norm ``norm(x + dropout(sublayer(x)))``.

    Args:
        d_model: Size of a token's vector.
        dropout: Probability with which a feature of the sublayer's output is dropped in training.
        pre_norm: Whether the norm comes before the sublayer (today's usual order) or after the sum (the paper's).
        norm: Makes the norm, called with ``d_model``: a class, or one with its other arguments filled in.

    Source:
        Vaswani et al., 2017, sections 3.1 and 5.4 (post-norm); Xiong et al., "On Layer Normalization in the Transformer
        Architecture", 2020, section 3 (pre-norm, and why).
    """

    def __init__(
        self, d_model: int, *, dropout: float = 0.0, pre_norm: bool = True, norm: Callable[[int], nn.Module] = LayerNorm
    ) -> None:
        super().__init__()
        require_probability(dropout=dropout)
        self.norm = norm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(
        self, x: Float[Tensor, "B L d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "B L d_model"]:
        """Run a sublayer and add what it gives to what it got.

        Raises:
            ValueError: The sublayer changes the shape.
        """
        change = sublayer(self.norm(x) if self.pre_norm else x)  # (B, L, d_model)
        if change.shape != x.shape:
            raise ValueError(
                f"sublayer turned shape {tuple(x.shape)} into {tuple(change.shape)}; it must keep the shape"
            )
        x = x + self.dropout(change)
        return x if self.pre_norm else self.norm(x)
