"""9.9 · Open experiment: how small a start?"""

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import mean, number, numbers, one_of, table_of

DEPTHS, STARTS = (2, 8, 32), ("full", "root", "share")
KEYS = [(depth, start) for start in STARTS for depth in DEPTHS]
ORDERS, LOSSES = ("pre-norm", "post-norm"), (0.0, 3.0)
PAIRS = [(order, start) for order in ORDERS for start in STARTS]
POSSIBLE_LOSSES = {
    (order, start): bounds
    for order in ORDERS
    for start, bounds in {"full": (0.3, 2.3), "root": (0.0, 1.3), "share": (0.0, 1.0)}.items()
}
LEARNED = 0.5  # both losses are below it
LAWS = {"not at all": 1.0, "sqrt(N)": 2.0, "N": 4.0}  # how much larger when N is four times as large
POSSIBLE = {"full": ((1.2, 1.8), (2.2, 3.4), (4.6, 8.0)), "root": ((1.03, 1.3),) * 3, "share": ((0.94, 1.12),) * 3}


def all_runs(results):
    for keys, count in ((KEYS, "five"), (PAIRS, "two")):
        for key in keys:
            try:
                numbers(results[key])
            except TypeError:
                return f"entry {key!r} is {results[key]!r:.40}, where a list of {count} numbers is asked for."
    return table_of(KEYS, 5, 0.5, 100.0)(results) or table_of(PAIRS, 2, *LOSSES)(results)


def possible(results):
    for start, bounds in POSSIBLE.items():
        for depth, (low, high) in zip(DEPTHS, bounds, strict=True):
            where, what = f"with {depth} layers and start {start!r}", "a size that such stacks do not have."
            if not low <= (middle := mean(results, (depth, start))) <= high:
                return f"{where} your mean size is {middle:.3f}, {what}"
            if odd := [size for size in numbers(results[depth, start]) if not 0.8 * low <= size <= 1.2 * high]:
                return f"{where} one of your sizes is {odd[0]:.3f}, {what}"
    for pair, (low, high) in POSSIBLE_LOSSES.items():
        if odd := [loss for loss in numbers(results[pair]) if not low <= loss <= high]:
            return f"with {pair[0]} and start {pair[1]!r} one of your losses is {odd[0]:.3f}, which two_losses does not give."
    return None


def the_law(results):
    if problem := one_of(results, "law", LAWS):
        return problem
    ratio = mean(results, (32, "full")) / mean(results, (8, "full"))
    if results["law"] == min(LAWS, key=lambda law: abs(ratio - LAWS[law])):
        return None
    times = LAWS[results["law"]]
    return f"from 8 to 32 layers your mean size became {ratio:.2f} times as large; your law says {times:g} times."


def size_at_128(results):
    answer, here = number(results["size at 128"]), mean(results, (32, "full"))
    expected = here * LAWS[results["law"]]
    if abs(answer - expected) <= 0.05 * expected:
        return None
    return f"you expect {answer:.2f} at 128 layers; your mean at 32 is {here:.2f}, and N is four times as large."


def steady(results):
    if problem := one_of(results, "steady", STARTS):
        return problem
    growth = {start: mean(results, (32, start)) / mean(results, (2, start)) for start in STARTS}
    if results["steady"] == next((start for start in STARTS if growth[start] < 1.2), None):
        return None
    grown = ", ".join(f"{start} {times:.2f}" for start, times in growth.items())
    return f"you say {results['steady']!r}; mean size at 32 layers divided by that at 2: {grown}."


def learned(results):
    given = results["learned"]
    if not isinstance(given, list | tuple | set):
        return f"'learned' is {given!r:.40}, where a list of pairs (order, start) is asked for."
    given = {tuple(pair) if isinstance(pair, list) else pair for pair in given}
    if strange := [pair for pair in given if pair not in PAIRS]:
        return f"'learned' holds {strange[0]!r:.60}, which is no pair of an order and a start."
    for pair in PAIRS:
        worst = max(numbers(results[pair]))
        if (pair in given) != (worst < LEARNED):
            does = "holds" if pair in given else "lacks"
            return f"'learned' {does} {pair!r}; the larger of your two losses there is {worst:.2f}."
    return None


def decides(results):
    if problem := one_of(results, "decides", ("order", "start")):
        return problem
    loss = {pair: mean(results, pair) for pair in PAIRS}
    order = abs(sum(loss["pre-norm", start] - loss["post-norm", start] for start in STARTS)) / 3
    start = abs(sum(loss[name, "full"] - loss[name, "root"] for name in ORDERS)) / 2
    if results["decides"] == ("order" if order > start else "start"):
        return None
    return (
        f"you say {results['decides']!r}; your mean losses of the two orders are {order:.2f} apart, "
        f"those of 'full' and 'root' {start:.2f}."
    )


EXERCISE = Experiment(
    claims=(
        Claim(
            "all runs",
            all_runs,
            "store five_sizes(N, start) under (N, start), two_losses(order, start) under (order, start).",
        ),
        Claim(
            "possible",
            possible,
            "compare each call of five_sizes and two_losses with the key that its result stands under.",
        ),
        Claim(
            "law",
            the_law,
            "compare 8 with 32 layers: under sqrt(N) the size doubles, under N it is four times as large.",
        ),
        Claim(
            "size at 128",
            size_at_128,
            "from 32 to 128 layers N grows as it did from 8 to 32: your law says by how much.",
        ),
        Claim(
            "steady",
            steady,
            "which starts stay below 1.2 times? Of those take the one that multiplies the last matrices by most.",
        ),
        Claim("learned", learned, "a pair belongs there if both of its losses are below 0.5."),
        Claim(
            "decides",
            decides,
            "take the mean of each order over the three starts, and of each start over the two orders.",
        ),
    )
)
