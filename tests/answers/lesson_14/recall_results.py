# %% setup
import torch

# what the statement's code measures
RESULTS = {
    ("linear", 4, 8): [0.481, 0.469], ("linear", 4, 32): [0.288, 0.287], ("linear", 4, 64): [0.161, 0.164],
    ("linear", 16, 8): [0.498, 0.535], ("linear", 16, 32): [0.49, 0.467], ("linear", 16, 64): [0.435, 0.442],
    ("delta", 4, 8): [0.786, 0.78], ("delta", 4, 32): [0.281, 0.283], ("delta", 4, 64): [0.157, 0.162],
    ("delta", 16, 8): [0.9961, 0.9956], ("delta", 16, 32): [0.855, 0.879], ("delta", 16, 64): [0.55, 0.597],
    ("linear", 4, "longer"): 0.173, ("linear", 16, "longer"): 0.476,
    ("delta", 4, "longer"): 0.272, ("delta", 16, "longer"): 0.789,
}
FORMS = [("linear", 4), ("linear", 16), ("delta", 4), ("delta", 16)]
RESULTS |= {("more", 8): ("delta", 4), ("more", 64): ("linear", 16), ("more", "longer"): ("linear", 16)}
RESULTS |= {"not done": [("delta", 4), ("delta", 16)]}

# %% wrong: the larger state is expected to recall more everywhere
recall_results = RESULTS | {("more", 8): ("linear", 16)}

# %% wrong: the better rule is expected to recall more everywhere
recall_results = RESULTS | {("more", 64): ("delta", 4)}

# %% wrong: one seed only
recall_results = {key: value[:1] if isinstance(value, list) and isinstance(key, tuple) else value for key, value in RESULTS.items()}

# %% wrong: what comes out after the longer training is expected to change
recall_results = RESULTS | {("more", "longer"): ("delta", 4)}

# %% wrong: a kind without its size
recall_results = RESULTS | {("more", "longer"): "linear"}

# %% wrong: 200 updates for the longer training too
recall_results = RESULTS | {(*form, "longer"): RESULTS[*form, 64][0] for form in FORMS} | {"not done": []}

# %% wrong: the longer training with keys that come once
recall_results = RESULTS | {("linear", 16, "longer"): 0.78, ("linear", 4, "longer"): 0.21}

# %% wrong: the longer trainings in place of those from seed 0
recall_results = RESULTS | {(*form, 64): [RESULTS[*form, "longer"], RESULTS[*form, 64][1]] for form in FORMS}

# %% wrong: a kind in place of a list
recall_results = RESULTS | {"not done": "delta"}

# %% wrong: every key once
recall_results = RESULTS | {("linear", 16, 8): [1.0, 1.0], ("linear", 4, 8): [0.9, 0.89]}

# %% wrong: all that got better at all
recall_results = RESULTS | {"not done": FORMS}

# %% wrong: compared with the mean of both seeds, of another form
recall_results = RESULTS | {"not done": [("delta", 16)]}

# %% right: as measured
recall_results = RESULTS

# %% right: lists and single numbers as tensors
recall_results = {key: torch.tensor(value) if isinstance(value, float) or isinstance(key, tuple) and key[-1] in (8, 32, 64) and key[0] != "more" else value for key, value in RESULTS.items()}

# %% right: lists as tuples
recall_results = {key: tuple(value) if isinstance(value, list) else value for key, value in RESULTS.items()}

# %% right: as many right answers from both seeds where nearly all are right
recall_results = RESULTS | {("delta", 16, 8): [0.9956, 0.9956]}
