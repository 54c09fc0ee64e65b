# %% setup
# what the statement's code measures
import torch
RESULTS = {
    ("full", "contiguous"): [2624, 2064], ("full", "zigzag"): [1600, 1200], ("full", "striped"): [1728, 1344],
    ("half", "contiguous"): [1088, 912], ("half", "zigzag"): [672, 528], ("half", "striped"): [480, 384],
    ("window", "contiguous"): [640, 480], ("window", "zigzag"): [800, 624], ("window", "striped"): [1008, 704],
    ("window, tile 1", "contiguous"): [512, 384], ("window, tile 1", "zigzag"): [632, 498],
    ("window, tile 1", "striped"): [477, 360],
    ("best", "full"): "zigzag", ("best", "half"): "striped", ("best", "window"): "contiguous",
    ("best", "window, tile 1"): "striped", "times as fast": 1248 / 528,
}
ROUNDS = torch.arange(96).view(6, 4, 4)
ROUNDS[1::2] = ROUNDS[1::2].flip(1)
RESULTS["mine"] = ROUNDS.transpose(0, 1).reshape(4, 24)

# %% wrong: times of the busiest rank, as if nobody waited
from course_utils.distributed.layouts import layout
from course_utils.distributed.simulation import pair_table
q, k = torch.arange(96)[:, None], torch.arange(96)
division_results = dict(RESULTS)
for name in ("contiguous", "zigzag", "striped"):
    tables = []
    for P in (3, 4):
        of = layout(name, 96, P)
        positions = torch.stack([of.positions(r) for r in range(P)])
        tables.append(pair_table(positions, (k <= q) & (q - k < 16), 4))
    division_results["window", name] = [int(table.sum(dim=1).max()) for table in tables]

# %% wrong: one time is a slip of the pen
division_results = RESULTS | {("half", "striped"): [480, 348]}

# %% wrong: with 4 ranks first
division_results = {key: value[::-1] if isinstance(value, list) else value for key, value in RESULTS.items()}

# %% wrong: single pairs where tiles of 4 are asked for
division_results = RESULTS | {("full", "contiguous"): [2576, 2028], ("full", "zigzag"): [1552, 1164], ("full", "striped"): [1584, 1200]}

# %% wrong: 4 ranks only
division_results = {key: value[1:] if isinstance(value, list) else value for key, value in RESULTS.items()}

# %% wrong: zigzag is believed to be best with half a text too
division_results = RESULTS | {("best", "half"): "zigzag"}

# %% wrong: the largest time is taken for the best
division_results = RESULTS | {("best", "window"): "striped"}

# %% wrong: a single rank computes a full text
division_results = RESULTS | {"times as fast": 4800 / 528}

# %% wrong: the share of the time in place of how many times as fast
division_results = RESULTS | {"times as fast": 528 / 1248}

# %% wrong: a division of one's own that is only zigzag again
division_results = RESULTS | {"mine": torch.cat((torch.arange(96).view(8, 12)[:4], torch.arange(96).view(8, 12)[4:].flip(0)), dim=1)}

# %% wrong: stripes as one's own division
division_results = RESULTS | {"mine": torch.arange(96).view(24, 4).T}

# %% wrong: chunks of 4 that overlap
division_results = RESULTS | {"mine": torch.arange(24)[None].repeat(4, 1)}

# %% wrong: the times of two layouts exchanged
division_results = RESULTS | {("half", "zigzag"): [480, 384], ("half", "striped"): [672, 528], ("best", "half"): "zigzag"}

# %% wrong: an entry is missing
division_results = {key: value for key, value in RESULTS.items() if key != ("best", "window, tile 1")}

# %% wrong: chunks of 4 dealt out in rounds, always from rank 0 on
division_results = RESULTS | {"mine": torch.arange(96).view(6, 4, 4).transpose(0, 1).reshape(4, 24)}

# %% right: the numbers as they come
division_results = RESULTS

# %% right: chunks of 4 there and back, as nested lists, and times as tensors
mine = [[] for _ in range(4)]
for chunk in range(24):
    around, place = divmod(chunk, 4)
    rank = place if around % 2 == 0 else 3 - place
    mine[rank] += range(4 * chunk, 4 * chunk + 4)
division_results = {key: torch.tensor(value) if isinstance(value, list) else value for key, value in RESULTS.items()}
division_results["mine"] = mine

# %% right: times as tuples of floats, and the ratio rounded
division_results = {key: tuple(map(float, value)) if isinstance(value, list) else value for key, value in RESULTS.items()}
division_results["times as fast"] = 2.36
