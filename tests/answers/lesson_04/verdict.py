# %% setup
import math

# %% wrong: believes that the scale comes from d_v
def verdict(B, L, d_model, d_k, d_v):
    if d_v == d_k:
        return "right"
    return "too even" if d_v > d_k else "too sharp"

# %% wrong: exchanges even and sharp
def verdict(B, L, d_model, d_k, d_v):
    if L == d_k or L == 1:
        return "right"
    return "too sharp" if L > d_k else "too even"

# %% wrong: forgets that a single token has the weight 1 whatever is divided
def verdict(B, L, d_model, d_k, d_v):
    if L == d_k:
        return "right"
    return "too even" if L > d_k else "too sharp"

# %% wrong: takes the author's test for a proof
def verdict(B, L, d_model, d_k, d_v):
    return "right" if B and L == d_model == d_k == d_v else "too even"

# %% right: by the sign of the difference
def verdict(B, L, d_model, d_k, d_v):
    difference = 0 if L < 2 else (L > d_k) - (L < d_k)
    return {0: "right", 1: "too even", -1: "too sharp"}[difference]

# %% right: compares the two divisors
def verdict(B, L, d_model, d_k, d_v):
    ratio = math.sqrt(L) / math.sqrt(d_k)
    if L == 1 or math.isclose(ratio, 1.0):
        return "right"
    return "too even" if ratio > 1 else "too sharp"
