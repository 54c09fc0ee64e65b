# %% setup
from statistics import median

LENGTHS = (4, 8, 16, 32)
SEEDS = (0.7, 0.9, 1.0, 1.2, 1.6)
ROWS = {("recurrence", n): [s * 0.2 * 0.42 ** (n - 3) for s in SEEDS] for n in LENGTHS}
ROWS |= {("attention", n): [s / n for s in SEEDS] for n in LENGTHS}
READ = {"fades at": 8, "attention loses": 8.0, "below equal": 2}

# %% wrong: one seed
reach = {key: row[:1] for key, row in ROWS.items()} | READ

# %% wrong: attention was not measured
reach = {key: row for key, row in ROWS.items() if key[0] == "recurrence"} | READ

# %% wrong: the same layer and the same tokens five times
reach = {key: [row[2]] * 5 for key, row in ROWS.items()} | READ

# %% wrong: n was never handed on: the recurrence read 4 tokens each time
reach = ROWS | {("recurrence", n): [s * 0.08 * (1 + n / 1000) for s in SEEDS] for n in LENGTHS} | READ

# %% wrong: compares the recurrence's median with the equal share and not with a tenth of it
reach = ROWS | READ | {"fades at": 4}

# %% wrong: the factor upside down
reach = ROWS | READ | {"attention loses": 1 / 8}

# %% wrong: counts the runs above the equal share, the one that lies on it with them
reach = ROWS | READ | {"below equal": 3}

# %% wrong: percent in the place of shares
reach = {key: [100 * share for share in row] for key, row in ROWS.items()} | READ

# %% two mistakes: the factor is that of the recurrence; and the runs below are counted at 4 tokens in percent
reach = ROWS | READ | {"attention loses": ROWS["recurrence", 4][2] / ROWS["recurrence", 32][2], "below equal": 0.4}

# %% two mistakes: four seeds; and the length at which it fades is the one before
reach = {key: row[:4] for key, row in ROWS.items()} | READ | {"fades at": 4}

# %% right: tuples in the place of lists
reach = {key: tuple(row) for key, row in ROWS.items()} | READ

# %% right: the seeds in another order, the factor rounded
reach = {key: row[::-1] for key, row in ROWS.items()} | READ | {"attention loses": 8}

# %% right: influences so far away that they are 0 in floating point
reach = ROWS | {("recurrence", 32): [0.0, 0.0, 1e-40, 1e-38, 1e-37]} | READ
