"""Open experiment: how the size of the stream grows with depth, from three starts."""

from ...experiment import Claim, Experiment
from ...kit.experiments import mean, number, numbers, said_of, table_of

DEPTHS, STARTS = (2, 8, 32), ("full", "root", "share")
KEYS = [(depth, start) for start in STARTS for depth in DEPTHS]
_TABLE = table_of(KEYS, 5, 0.5, 100.0)
LAWS = {"not at all": 1.0, "sqrt(N)": 2.0, "N": 4.0}  # how much larger when N is four times as large
POSSIBLE = {"full": ((1.2, 1.8), (2.2, 3.4), (4.6, 8.0)), "root": ((1.03, 1.3),) * 3, "share": ((0.94, 1.12),) * 3}


def _all_runs(results):
    for key in KEYS:
        try:
            numbers(results[key])
        except TypeError:
            return f"entry {key!r} is {results[key]!r:.40}, where a list of five numbers is asked for."
    return _TABLE(results)


def _possible(results):
    for start, bounds in POSSIBLE.items():
        for depth, (low, high) in zip(DEPTHS, bounds, strict=True):
            where, what = f"with {depth} layers and start {start!r}", "a size that such stacks do not have."
            if not low <= (found := mean(results, (depth, start))) <= high:
                return f"{where} your mean size is {found:.3f}, {what}"
            if odd := [size for size in numbers(results[depth, start]) if not 0.8 * low <= size <= 1.2 * high]:
                return f"{where} one of your sizes is {odd[0]:.3f}, {what}"
    return None


def _law(results):
    if wrong := said_of(results, "law", LAWS):
        return wrong
    ratio = mean(results, (32, "full")) / mean(results, (8, "full"))
    nearest = min(LAWS, key=lambda law: abs(ratio - LAWS[law]))
    said = LAWS[results["law"]]
    return None if results["law"] == nearest else (
        f"from 8 to 32 layers your mean size became {ratio:.2f} times as large; your law says {said:g} times."
    )  # fmt: skip


def _far(results):
    said, here = number(results["size at 128"]), mean(results, (32, "full"))
    expected = here * LAWS[results["law"]]
    return None if abs(said - expected) <= 0.05 * expected else (
        f"you expect {said:.2f} at 128 layers; your mean at 32 is {here:.2f}, and N is four times as large."
    )  # fmt: skip


def _steady(results):
    if wrong := said_of(results, "steady", STARTS):
        return wrong
    growth = {start: mean(results, (32, start)) / mean(results, (2, start)) for start in STARTS}
    largest = next((start for start in STARTS if growth[start] < 1.2), None)
    if results["steady"] == largest:
        return None
    grown = ", ".join(f"{start} {times:.2f}" for start, times in growth.items())
    return f"you say {results['steady']!r}; from 2 to 32 layers your mean sizes grew by these factors: {grown}."


def _example():
    sizes = {"full": (1.48, 2.83, 6.1), "root": (1.13, 1.15, 1.16), "share": (1.04, 1.02, 1.02)}
    table = {(d, s): [row[i] + 0.01 * n for n in range(5)] for s, row in sizes.items() for i, d in enumerate(DEPTHS)}
    return table | {"law": "sqrt(N)", "size at 128": 12.2, "steady": "root"}


EXPERIMENT = Experiment(
    answer="growth_results", example=_example, claims=(
        Claim("all runs", _all_runs, "store five_sizes(N, start) under (N, start)."),
        Claim("possible", _possible, "compare each call of five_sizes(N, start) with the key that its result stands under."),
        Claim("law", _law, "compare 8 with 32 layers: under sqrt(N) the size doubles, under N it is four times as large."),
        Claim("size at 128", _far, "from 32 to 128 layers N grows as it did from 8 to 32: let your law say by how much."),
        Claim("steady", _steady, "compare 2 with 32 layers for each start, from the largest factor down."),
    ),
)  # fmt: skip
