"""What several modules ask of their arguments, said once."""


def require_sizes(**sizes: int) -> None:
    """Raise ``ValueError`` for the first size, length or count that is not positive."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} ({size}) must be at least 1")


def require_probability(**values: float) -> None:
    """Raise ``ValueError`` for the first probability outside ``[0, 1)``: to drop everything would leave nothing."""
    for name, value in values.items():
        if not 0.0 <= value < 1.0:
            raise ValueError(f"{name} ({value}) must be at least 0 and below 1")
