# %% setup
import math

# %% wrong: math.isclose with rel_tol=1e-4 alone, which has no absolute tolerance
def distance_only(score, length):
    for m in range(1, length):
        for n in range(1, length):
            if not math.isclose(score(m, n), score(m - 1, n - 1), rel_tol=1e-4):
                return False
    return True
