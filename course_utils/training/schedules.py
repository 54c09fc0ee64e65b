"""Learning rates by the number of the update."""

import math


def warmup_rate(step: int, d_model: int, warmup: int = 4000, factor: float = 1.0) -> float:
    """The paper's learning rate: rising linearly for ``warmup`` steps, then falling with the square root of the step.

    ``factor * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5)``; the two meet at ``step = warmup``, where it is largest.
    ``step`` is the number of the update, counted from 1: at 0, its power -0.5 would be infinite.

    Source:
        Vaswani et al., "Attention Is All You Need", 2017, section 5.3, equation 3.

    Example:
        >>> round(warmup_rate(4000, d_model=512), 6)
        0.000699
    """
    if step < 1:
        raise ValueError(f"step ({step}) must be at least 1: the first update is step 1, and 0 ** -0.5 is infinite")
    if d_model < 1 or warmup < 1:
        raise ValueError(f"d_model ({d_model}) and warmup ({warmup}) must be at least 1")
    return factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def one_cycle_rate(step: int, num_steps: int, peak: float, *, rise: float = 0.3) -> float:
    """A learning rate that rises from near 0 to ``peak`` and falls back to near 0, each along half a cosine.

    The rise takes a share ``rise``, between 0 and 1, of the ``num_steps`` updates. ``step`` counts the updates from 1; any
    after the last of them keep its rate.

    Source:
        Smith and Topin, "Super-Convergence: Very Fast Training of Neural Networks Using Large Learning Rates", 2018.
    """
    if step < 1 or num_steps < 1:
        raise ValueError(f"step ({step}) and num_steps ({num_steps}) must be at least 1")
    if not 0.0 < rise < 1.0:
        raise ValueError(f"rise ({rise}) must be between 0 and 1")
    done = min(step / num_steps, 1.0)
    height = done / rise if done < rise else (1.0 - done) / (1.0 - rise)  # 0 at both ends, 1 at the top
    return peak * (0.02 + 0.98 * 0.5 * (1.0 - math.cos(math.pi * height)))
