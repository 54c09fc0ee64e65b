"""Open experiment: which scale learns at which width."""

from ...experiment import Claim, Experiment
from ...kit.experiments import mean, numbers, said_of, table_of

WIDTHS, SCALES = (8, 64, 512), ("none", "root", "d_k")
# The smallest mean that is let through, where not all five models learn it; 0.97 elsewhere.
LEAST = {(64, "none"): 0.9, (64, "d_k"): 0.8, (512, "none"): 0.6, (512, "d_k"): 0.4}
KEYS = [(d_k, scale) for d_k in WIDTHS for scale in SCALES]


def _example():
    found = {key: [1.0, 1.0, 0.999, 1.0, 1.0] for key in KEYS}
    found[64, "d_k"] = [1.0, 1.0, 1.0, 1.0, 0.88]
    found[512, "none"], found[512, "d_k"] = [1.0, 1.0, 0.85, 0.87, 0.82], [0.64, 0.56, 0.61, 0.64, 0.54]
    return found | {"none fails at": 512, "root fails at": None, "d_k fails at": 64}


def _possible(results):
    for key in KEYS:
        share = mean(results, key)
        if share < LEAST.get(key, 0.97):
            return f"entry {key!r} has a mean of {share:.3f}; these models learn more than that."
    if (share := mean(results, (512, "d_k"))) > 0.9:
        return f"entry (512, 'd_k') has a mean of {share:.2f}; with a divisor of 512 they learn less."
    if (low := sum(one < 0.99 for one in numbers(results[64, "none"]))) > 2:
        return f"entry (64, 'none') has {low} models below 0.99; nearly all of them learn it at this width."
    if mean(results, (512, "none")) == 1:
        return "entry (512, 'none') holds nothing but 1; without a divisor not all five models learn it at this width."
    return None


def _read_off(scale):
    name = f"{scale} fails at"

    def problem(results):
        right = next((d_k for d_k in WIDTHS if min(numbers(results[d_k, scale])) < 0.99), None)
        if wrong := said_of(results, name, (*WIDTHS, None)):
            return wrong
        if results[name] == right:
            return None
        worst = ", ".join(f"{min(numbers(results[d_k, scale])):.3f} at {d_k}" for d_k in WIDTHS)
        return f"entry {name!r} is {results[name]}, but your worst seeds are {worst}."

    return problem


_READ = "take the smallest width at which the worst of the five seeds is below 0.99, and None if there is none."

EXPERIMENT = Experiment(
    answer="scale_results", example=_example, claims=(
        Claim("all runs", table_of(KEYS, 5, 0.0, 1.0), "keep the five shares that share_right hands back for each pair."),
        Claim("possible", _possible, "share_right takes what the scores are divided by: 1.0, d_k ** 0.5 or d_k."),
        *(Claim(f"{scale} read off", _read_off(scale), _READ) for scale in SCALES),
    ),
)  # fmt: skip
