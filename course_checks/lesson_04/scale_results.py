"""4.6 · Open experiment: scale and width."""

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import mean, numbers, one_of, table_of

WIDTHS, SCALES = (8, 64, 512), ("none", "root", "d_k")
KEYS = [(d_k, scale) for d_k in WIDTHS for scale in SCALES]
# The smallest mean that is let through, where not all five models learn it; 0.97 elsewhere.
LEAST = {(64, "none"): 0.9, (64, "d_k"): 0.8, (512, "none"): 0.6, (512, "d_k"): 0.4}
READ = "take the smallest width at which the worst of the five seeds is below 0.99, and None if there is none."


def possible(results):
    for key in KEYS:
        if (share := mean(results, key)) < LEAST.get(key, 0.97):
            return f"entry {key!r} has a mean of {share:.3f}; these models learn more than that."
    if (share := mean(results, (512, "d_k"))) > 0.9:
        return f"entry (512, 'd_k') has a mean of {share:.2f}; with a divisor of 512 they learn less."
    if (low := sum(share < 0.99 for share in numbers(results[64, "none"]))) > 2:
        return f"entry (64, 'none') has {low} models below 0.99; nearly all of them learn it at this width."
    if mean(results, (512, "none")) == 1:
        return "entry (512, 'none') holds nothing but 1; without a divisor not all five models learn it at this width."
    return None


def read_off(scale):
    name = f"{scale} fails at"

    def problem(results):
        worst = {d_k: min(numbers(results[d_k, scale])) for d_k in WIDTHS}
        if wrong := one_of(results, name, (*WIDTHS, None)):
            return wrong
        if results[name] == next((d_k for d_k in WIDTHS if worst[d_k] < 0.99), None):
            return None
        shares = ", ".join(f"{share:.3f} at {d_k}" for d_k, share in worst.items())
        return f"entry {name!r} is {results[name]}, but your worst seeds are {shares}."

    return Claim(f"{scale} read off", problem, READ)


EXERCISE = Experiment(
    claims=(
        Claim(
            "all runs", table_of(KEYS, 5, 0.0, 1.0), "keep the five shares that share_right hands back for each pair."
        ),
        Claim(
            "possible",
            possible,
            "leave steps and rate as they are, 300 and 0.7; the divisor is 1.0, d_k ** 0.5 or d_k.",
        ),
        *map(read_off, SCALES),
    )
)
