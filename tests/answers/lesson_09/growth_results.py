# %% setup
import torch

SIZES = {
    "full": {2: [1.46, 1.47, 1.48, 1.46, 1.49], 8: [2.8, 2.83, 2.82, 2.79, 2.88], 32: [6.0, 6.12, 6.05, 6.2, 6.1]},
    "root": {2: [1.13, 1.12, 1.14, 1.13, 1.13], 8: [1.15, 1.14, 1.16, 1.15, 1.14], 32: [1.16, 1.15, 1.17, 1.16, 1.15]},
    "share": {2: [1.04, 1.03, 1.05, 1.04, 1.04], 8: [1.02, 1.01, 1.03, 1.02, 1.02], 32: [1.02, 1.01, 1.02, 1.02, 1.01]},
}


LOSSES = {  # two_losses(order, start)
    ("pre-norm", "full"): [1.3628, 1.2442], ("pre-norm", "root"): [0.017, 0.0271], ("pre-norm", "share"): [0.0272, 0.0149],
    ("post-norm", "full"): [1.6158, 1.5606], ("post-norm", "root"): [0.0531, 0.016], ("post-norm", "share"): [0.0032, 0.004],
}
LEARNED = [(order, start) for order in ("pre-norm", "post-norm") for start in ("root", "share")]
TRAINING = LOSSES | {"learned": LEARNED, "decides": "start"}


def table():
    return TRAINING | {(N, start): list(sizes) for start, row in SIZES.items() for N, sizes in row.items()}

# %% wrong: takes the growth from 8 to 32 for a law in N
growth_results = table() | {"law": "N", "size at 128": 24.4, "steady": "root"}

# %% wrong: the law is right, the size at 128 goes by the number of layers
growth_results = table() | {"law": "sqrt(N)", "size at 128": 24.4, "steady": "root"}

# %% wrong: the steadiest start instead of the largest factor that is steady enough
growth_results = table() | {"law": "sqrt(N)", "size at 128": 12.2, "steady": "share"}

# %% right: sizes kept as tuples, the size at 128 rounded to one digit
growth_results = {key: tuple(sizes) if isinstance(key, tuple) else sizes for key, sizes in table().items()}
growth_results |= {"law": "sqrt(N)", "size at 128": 12.2, "steady": "root"}

# %% right: sizes kept as tensors, the size at 128 as a tensor without a shape
growth_results = {key: torch.tensor(sizes) if isinstance(key, tuple) else sizes for key, sizes in table().items()}
growth_results |= {"law": "sqrt(N)", "size at 128": 2 * growth_results[32, "full"].mean(), "steady": "root"}

# %% setup
import math
import torch

MEASURED = {  # five_sizes(N, start)
    (2, "full"): [1.3895467519760132, 1.5881727933883667, 1.4727548360824585, 1.4845091104507446, 1.4436546564102173],
    (2, "root"): [1.1194924116134644, 1.198980689048767, 1.0977884531021118, 1.1122407913208008, 1.1316041946411133],
    (2, "share"): [1.0461102724075317, 1.0828447341918945, 1.004533052444458, 1.0206838846206665, 1.0489624738693237],
    (8, "full"): [2.9015533924102783, 3.0174553394317627, 3.0104918479919434, 2.6275687217712402, 2.604761838912964],
    (8, "root"): [1.1524642705917358, 1.18501877784729, 1.118994116783142, 1.1614397764205933, 1.142625093460083],
    (8, "share"): [1.0298300981521606, 1.0479038953781128, 0.9883711934089661, 1.0165209770202637, 1.0275263786315918],
    (32, "full"): [6.188157081604004, 6.978011608123779, 5.733610153198242, 5.932175159454346, 5.790930271148682],
    (32, "root"): [1.155991792678833, 1.1824575662612915, 1.170640230178833, 1.1334748268127441, 1.1659115552902222],
    (32, "share"): [1.0276844501495361, 1.041229009628296, 0.9874522686004639, 1.005000114440918, 1.0283265113830566],
}
LOSSES = {  # two_losses(order, start)
    ("pre-norm", "full"): [1.3628, 1.2442], ("pre-norm", "root"): [0.017, 0.0271], ("pre-norm", "share"): [0.0272, 0.0149],
    ("post-norm", "full"): [1.6158, 1.5606], ("post-norm", "root"): [0.0531, 0.016], ("post-norm", "share"): [0.0032, 0.004],
}
LEARNED = [(order, start) for order in ("pre-norm", "post-norm") for start in ("root", "share")]
TRAINING = LOSSES | {"learned": LEARNED, "decides": "start"}
MEAN_32 = sum(MEASURED[32, "full"]) / 5

# %% right: everything worked out by tensors
starts, depths = ("full", "root", "share"), (2, 8, 32)
means = torch.tensor([[MEASURED[N, s] for s in starts] for N in depths]).mean(-1)
growth_results = TRAINING | {(N, s): list(MEASURED[N, s]) for s in starts for N in depths}
exponent = round(2 * math.log(means[2, 0] / means[1, 0], 4)) / 2
growth_results["law"] = {0: "not at all", 0.5: "sqrt(N)", 1: "N"}[exponent]
growth_results["size at 128"] = means[2, 0].item() * 4**exponent
growth_results["steady"] = starts[int((means[2] < 1.2 * means[0]).int().argmax())]

# %% wrong: thinks a loss at the landmark is learned
growth_results = TRAINING | MEASURED | {"law": "sqrt(N)", "size at 128": 2 * MEAN_32, "steady": "root"}
growth_results |= {"learned": list(LOSSES)}

# %% wrong: has heard that the order decides
growth_results = TRAINING | MEASURED | {"law": "sqrt(N)", "size at 128": 2 * MEAN_32, "steady": "root"}
growth_results |= {"decides": "order"}
