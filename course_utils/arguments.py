"""What several modules ask of their arguments, said once."""


def require_sizes(**sizes: int) -> None:
    """Stop if a size, a length or a count is not positive.

    Raises:
        ValueError: One is below 1; the message names the first such.
    """
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} ({size}) must be at least 1")


def require_probability(**values: float) -> None:
    """Stop if a probability with which something is dropped or given away is negative, or leaves nothing.

    Raises:
        ValueError: One is outside ``[0, 1)``; the message names the first such.
    """
    for name, value in values.items():
        if not 0.0 <= value < 1.0:
            raise ValueError(f"{name} ({value}) must be at least 0 and below 1")
