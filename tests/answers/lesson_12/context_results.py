# %% setup
# what the statement's code measures, with a text_bits of its own
BITS = {
    "all": [1.6526, 2.6701, 1.8405, 0.9281, 1.415],
    "layers 128": [1.6565, 2.6837, 1.8371, 0.9587, 1.4209],
    "layers 16": [1.8704, 2.9894, 1.9889, 1.1319, 1.6348],
    "model 16": [1.856, 2.9922, 2.0075, 1.1311, 1.6438],
}
SIDE_BY_SIDE = [2.2239, 3.3235, 2.1869, 1.2669, 2.1061]  # length 16, stride 16
EARLY = {  # ids[512 * n : 512 * n + 513]
    "all": [1.6526, 1.475, 1.3754, 1.4616, 1.6206],
    "layers 128": [1.6565, 1.4733, 1.3899, 1.4703, 1.6473],
    "layers 16": [1.8704, 1.6718, 1.5625, 1.6594, 1.8551],
    "model 16": [1.856, 1.6798, 1.5539, 1.6402, 1.8609],
}


def mean(values):
    return sum(values) / len(values)


def read_off(bits, **other):
    everything, cut = mean(bits["all"]), mean(bits["model 16"])
    layered = mean(bits["layers 16"])
    pairs = zip(bits["layers 16"], bits["model 16"])
    return bits | {
        "lost at 128": mean(bits["layers 128"]) - everything,
        "reach": 61,
        "handed on": (cut - layered) / (cut - everything),
        "clear": all(one < other for one, other in pairs),
    } | other

# %% wrong: the reach is the window times the number of layers
context_results = read_off(BITS, reach=16 * 4)

# %% wrong: handed on is what is still missing with each layer seeing 16, not what it brings back
everything, cut, layered = mean(BITS["all"]), mean(BITS["model 16"]), mean(BITS["layers 16"])
context_results = read_off(BITS) | {"handed on": (layered - everything) / (cut - everything)}

# %% wrong: handed on is the bits of one divided by those of the other
context_results = read_off(BITS) | {"handed on": mean(BITS["layers 16"]) / mean(BITS["model 16"])}

# %% wrong: handed on in bits, not as a share
context_results = read_off(BITS) | {"handed on": mean(BITS["model 16"]) - mean(BITS["layers 16"])}

# %% wrong: the model that sees 16 is measured in windows side by side (stride 16)
context_results = read_off(BITS | {"model 16": SIDE_BY_SIDE})

# %% wrong: the stretches lie one after the other at the beginning of the text (512 n instead of 8000 n)
context_results = read_off(EARLY)

# %% wrong: what is lost at 128 is given in percent of the bits of all
context_results = read_off(BITS)
context_results["lost at 128"] = 100 * (mean(BITS["layers 128"]) / mean(BITS["all"]) - 1)

# %% wrong: what is lost at 128 is a list, stretch by stretch
context_results = read_off(BITS)
context_results["lost at 128"] = [some - every for some, every in zip(BITS["layers 128"], BITS["all"])]

# %% wrong: clear is judged by the means, which differ by a hair
context_results = read_off(BITS, clear=mean(BITS["layers 16"]) < mean(BITS["model 16"]))

# %% wrong: layers 16 and model 16 are exchanged
context_results = read_off(BITS | {"layers 16": BITS["model 16"], "model 16": BITS["layers 16"]})

# %% wrong: all and layers 128 are exchanged
context_results = read_off(BITS | {"all": BITS["layers 128"], "layers 128": BITS["all"]})

# %% wrong: handed on in percent
context_results = read_off(BITS)
context_results["handed on"] *= 100

# %% wrong: the way that cuts off the model is missing
context_results = read_off(BITS)
del context_results["model 16"]

# %% wrong: nats
context_results = read_off({way: [0.6931 * some for some in bits] for way, bits in BITS.items()})

# %% two mistakes: the reach is 16, as if nothing came through, and what is lost at 128 has the wrong sign
context_results = read_off(BITS, reach=16)
context_results["lost at 128"] = mean(BITS["all"]) - mean(BITS["layers 128"])

# %% two mistakes: windows side by side, and the reach counts what lies further back only
context_results = read_off(BITS | {"model 16": SIDE_BY_SIDE}, reach=60)

# %% right: the numbers as they were measured
context_results = read_off(BITS)

# %% right: everything rounded to two or three digits after the point
context_results = {way: [round(some, 3) for some in bits] for way, bits in BITS.items()}
context_results |= {"lost at 128": 0.01, "reach": 61, "handed on": 0.014, "clear": False}

# %% right: tensors, and the reach worked out layer by layer
import torch

context_results = {way: torch.tensor(bits) for way, bits in BITS.items()}
means = {way: bits.mean() for way, bits in context_results.items()}
reach = torch.ones(())
for _ in range(4):
    reach = reach + 15
context_results |= {
    "lost at 128": means["layers 128"] - means["all"],
    "reach": reach,
    "handed on": 1 - (means["layers 16"] - means["all"]) / (means["model 16"] - means["all"]),
    "clear": (context_results["layers 16"] < context_results["model 16"]).all(),
}
