"""Share the key/value heads."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.grouped import copies_after, first_head, tiled
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(*shape, n, dtype=torch.float32):
        return Case(x=torch.randn(shape, generator=rng, dtype=dtype), num_repeats=n)

    turned = torch.randn(2, 3, 5, 4, generator=rng)
    return [
        Case(x=torch.tensor([1.0, 2.0]).view(1, 2, 1, 1), num_repeats=2),
        case(2, 3, 5, 4, n=2),
        case(3, 2, 4, 5, n=4, dtype=torch.float64),
        case(2, 4, 3, 6, n=1),
        case(2, 1, 4, 3, n=5),
        case(2, 3, 5, 4, n=2),  # sizes seen before, other numbers
        Case("`x` comes from a transpose (it is not contiguous)", x=turned, num_repeats=3, _turned=True),
    ]


def _repeat(x, num_repeats, *, items=lambda x: x, arrange=lambda x, n: x.repeat_interleave(n, dim=1)):
    return arrange(items(x), num_repeats)


_AXIS = "the heads stand on axis 1 of (B, H_kv, L, d_head)."

EXERCISE = Exercise(
    answer="repeat_kv", cases=_cases, reference=_repeat, returns=("heads",), faults=(
        Fault("repeat", "the heads come in the order 0 1 2 0 1 2, as `repeat` gives them: query head h meets head "
              "h % H_kv.", "each head comes num_repeats times in a row, 0 0 1 1 2 2: `repeat_interleave` does that.",
              arrange=tiled),
        Fault("remainder of num_repeats", "query head h meets head h % num_repeats.",
              "its partner is h // num_repeats: a whole division, not its remainder.",
              arrange=lambda x, n: x[:, torch.arange(x.shape[1] * n) % n % x.shape[1]]),
        *(Fault(f"along the {name}", f"the {name} are repeated: dim={dim}.", _AXIS,
                arrange=lambda x, n, dim=dim: x.repeat_interleave(n, dim=dim))
          for dim, name in ((0, "sequences of the batch"), (2, "positions"), (-1, "features"))),
        *faults_of("arrange", "put the copies on a new axis right after the heads, then merge axes 1 and 2.",
            ("positions into heads", "the shape is right, the content scrambled: the copies stand after the positions.",
             copies_after(2)),
            ("features into heads", "the shape is right, the content scrambled: each feature is repeated.", copies_after(3)),
            ("no dim", "one long vector: without dim=, repeat_interleave flattens.", lambda x, n: x.repeat_interleave(n),
             "say along which axis: dim=1."),
            ("not repeated", "the heads as they were.", lambda x, n: x, "the result has H_kv * num_repeats heads."),
            ("new axis left", "an axis too many: the copies still stand on an axis of their own.",
             lambda x, n: torch.stack([x] * n, dim=2), "merge axes 1 and 2: .flatten(1, 2), or reshape."),
            ("first head only", "head 0 for all: that is multi-query attention.", first_head,
             "every head comes num_repeats times."),
            ("only the first heads", "num_repeats heads; it should be H_kv * num_repeats.",
             lambda x, n: x.repeat_interleave(n, dim=1)[:, :n],
             "num_repeats says how often each head comes, not how many heads there are in the end.")),
        Fault("first sequence only", "the first sequence of the batch alone.", "keep axis 0.", items=lambda x: x[:1]),
    ), advice="fill head j of x with the number j and look at result[0, :, 0, 0]: it must read 0 0 1 1 2 2.",
)  # fmt: skip
