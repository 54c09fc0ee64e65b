"""What several modules ask of their arguments, said once. What does not hold is a ``ValueError`` that names it."""

from collections.abc import Collection

from torch import Tensor


def require_sizes(**sizes: int) -> None:
    """Each size, length or count is positive."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} ({size}) must be at least 1")


def require_divides(name: str, divisor: int, whole_name: str, whole: int) -> None:
    """Both are positive, and one divides the other."""
    if divisor < 1 or whole < 1:
        raise ValueError(f"{name} ({divisor}) and {whole_name} ({whole}) must be at least 1")
    if whole % divisor:
        raise ValueError(f"{name} ({divisor}) must divide {whole_name} ({whole})")


def require_probability(**values: float) -> None:
    """Each is in ``[0, 1)``: to drop everything would leave nothing."""
    for name, value in values.items():
        if not 0.0 <= value < 1.0:
            raise ValueError(f"{name} ({value}) must be at least 0 and below 1")


def require_one_of(name: str, value: object, allowed: Collection[object]) -> None:
    """A value is one of those that there are."""
    if value not in allowed:
        raise ValueError(f"{name} ({value!r}) must be one of {', '.join(map(repr, allowed))}")


def require_shape(name: str, tensor: Tensor, letters: str, *, why: str = "", **sizes: int) -> None:
    """A tensor has a dimension for each letter, of the given size where there is one: ``"B L d_model", d_model=512``.

    ``...`` in front stands for any number of dimensions. ``why`` is the end of the message.
    """
    axes = letters.split()
    missing = len(axes) - tensor.dim()
    fits = missing == 0 or (missing < 2 and axes[0] == "...")
    if fits and sizes:
        shape = tensor.shape
        for axis in sizes:
            fits = fits and shape[axes.index(axis) - len(axes)] == sizes[axis]
    if not fits:
        expected = ", ".join(f"{axis}={sizes[axis]}" if axis in sizes else axis for axis in axes)
        comma = "," if len(axes) == 1 else ""
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}; expected ({expected}{comma}){why}")


def require_same(first: object, second: object, message: str) -> None:
    """Two sizes or shapes agree; in ``message`` they stand at the two ``{}``."""
    if first != second:
        raise ValueError(message.format(*(tuple(it) if isinstance(it, tuple) else it for it in (first, second))))


def require_broadcast(name: str, tensor: Tensor, shape: tuple[int, ...]) -> None:
    """A tensor broadcasts to the shape of the scores."""
    missing = len(shape) - tensor.dim()  # torch.broadcast_shapes loads sympy when first called: 0.4 s
    if missing < 0 or any(size not in (1, whole) for size, whole in zip(tensor.shape, shape[missing:], strict=True)):
        raise ValueError(f"{name} of shape {tuple(tensor.shape)} does not broadcast to scores of shape {tuple(shape)}")
