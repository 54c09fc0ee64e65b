# %% setup
import math


# %% wrong: only the rising term counts from 1, the falling one from the updates made (kept off 0)
def warmup_rate(done, d_model, warmup):
    return d_model**-0.5 * min(max(done, 1) ** -0.5, (done + 1) * warmup**-1.5)


# %% wrong: counts two too far, done + 2
def warmup_rate(done, d_model, warmup):
    s = done + 2
    return d_model**-0.5 * min(s**-0.5, s * warmup**-1.5)


# %% wrong: the rate rises to 1, since the root of the warm-up is missing
def warmup_rate(done, d_model, warmup):
    s = done + 1
    return d_model**-0.5 * min((warmup / s) ** 0.5, s / warmup)


# %% right: the peak, times what is left of it
def warmup_rate(done, d_model, warmup):
    s = done + 1
    peak = 1 / math.sqrt(d_model * warmup)
    return peak * (s / warmup if s < warmup else math.sqrt(warmup / s))
