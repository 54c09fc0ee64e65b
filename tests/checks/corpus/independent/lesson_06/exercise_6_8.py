# %% setup
RIGHT = {(2, 1): [0.4677, 0.4646, 0.4603, 0.4603, 0.4571], (2, 2): [0.0005, 0.0003, 0.0005, 0.0004, 0.0007],
    (2, 4): [0.0007, 0.0007, 0.0009, 0.001, 0.0005], (2, 8): [0.0008, 0.0011, 0.0013, 0.0009, 0.0014],
    (4, 1): [0.6741, 0.6783, 0.6799, 0.6713, 0.6747], (4, 2): [0.4104, 0.472, 0.4545, 0.4464, 0.4457],
    (4, 4): [0.0008, 0.0004, 0.0005, 0.0005, 0.0004], (4, 8): [0.0012, 0.0031, 0.0392, 0.0102, 0.0469]}
READ = {"enough for 2 marks": 2, "enough for 4 marks": 4, "law": "1 - heads / marks"}

# %% right: as asked
heads_results = RIGHT | READ

# %% wrong: 100 steps throughout
heads_results = {(2, 1): [0.4731, 0.47, 0.4677, 0.4629, 0.4659], (2, 2): [0.0025, 0.0021, 0.0023, 0.0017, 0.0023],
    (2, 4): [0.0028, 0.0031, 0.0036, 0.0033, 0.0034], (2, 8): [0.0039, 0.0046, 0.0049, 0.0046, 0.0101],
    (4, 1): [0.6972, 0.7394, 0.709, 0.7025, 0.7018], (4, 2): [0.4821, 0.5148, 0.4917, 0.4836, 0.4748],
    (4, 4): [0.022, 0.0062, 0.0204, 0.0819, 0.1845], (4, 8): [0.0619, 0.1018, 0.1176, 0.074, 0.1772]} | READ

# %% wrong: the entries (2, 1) and (4, 2) exchanged
heads_results = RIGHT | {(2, 1): RIGHT[4, 2], (4, 2): RIGHT[2, 1]} | READ

# %% wrong: (2, 8) copied from (2, 4)
heads_results = RIGHT | {(2, 8): RIGHT[2, 4]} | READ

# %% wrong: a reading is a text
heads_results = RIGHT | READ | {"enough for 2 marks": "2"}

# %% right: tensors
import torch

heads_results = {key: torch.tensor(row) for key, row in RIGHT.items()} | READ

# %% wrong: another law
heads_results = RIGHT | READ | {"law": "1 / (1 + heads)"}

# %% wrong: two heads taken for enough for 4 marks
heads_results = RIGHT | READ | {"enough for 4 marks": 2}

# %% wrong: marks and heads exchanged in the keys
heads_results = {(h, m): row for (m, h), row in RIGHT.items()} | READ
