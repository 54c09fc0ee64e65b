# %% wrong: windows count whole
def reached(layers, position):
    back = sum(position if w is None else w for w, _ in layers)
    first, sinks = max(0, position - back), max(s for _, s in layers)
    return (0, position + 1) if sinks >= first else (first, position + 1 - first + sinks)

# %% wrong: the sinks of all layers add up
def reached(layers, position):
    back = sum(position if w is None else w - 1 for w, _ in layers)
    first, sinks = max(0, position - back), sum(s for _, s in layers)
    return (0, position + 1) if sinks >= first else (first, position + 1 - first + sinks)

# %% wrong: sinks within the stretch count twice
def reached(layers, position):
    back = sum(position if w is None else w - 1 for w, _ in layers)
    first, sinks = max(0, position - back), max(s for _, s in layers)
    return first, position + 1 - first + sinks

# %% wrong: the widest window counts alone
def reached(layers, position):
    if any(w is None for w, _ in layers):
        return 0, position + 1
    first, sinks = max(0, position - max(w for w, _ in layers) + 1), max(s for _, s in layers)
    return (0, position + 1) if sinks >= first else (first, position + 1 - first + sinks)

# %% two mistakes: the last layer's sinks alone; and the text begins before 0
def reached(layers, position):
    if any(w is None for w, _ in layers):
        return 0, position + 1
    first, sinks = position - sum(w - 1 for w, _ in layers), layers[-1][1]
    return first, position + 1 - first + sinks

# %% right: the stretch and the sinks as ranges
def reached(layers, position):
    first = position
    for window, _ in reversed(layers):
        first = 0 if window is None else max(0, first - window + 1)
    sinks = min(max(sinks for _, sinks in layers), first)
    if sinks == first:
        first = sinks = 0
    return first, len(range(first, position + 1)) + sinks


# %% setup
import math
import torch
import torch.nn.functional as F
from course_utils.linear_attention import feature_map

# %% wrong: a window of w reaches w back, not w - 1
def reached(layers, position):
    first = position
    kept = 0
    for window, sinks in reversed(layers):
        if window is None:
            first = 0
        else:
            first = max(0, first - window)
        kept = max(kept, sinks)
    kept = min(kept, position + 1)
    if kept >= first:
        return 0, position + 1
    return first, position - first + 1 + kept
# %% wrong: the sinks of the layers are added up
def reached(layers, position):
    first = position
    kept = 0
    for window, sinks in reversed(layers):
        if window is None:
            first = 0
        else:
            first = max(0, first - (window - 1))
        kept += sinks
    kept = min(kept, position + 1)
    if kept >= first:
        return 0, position + 1
    return first, position - first + 1 + kept
# %% wrong: sinks that touch the stretch without overlap do not close the gap
def reached(layers, position):
    first = position
    kept = 0
    for window, sinks in reversed(layers):
        if window is None:
            first = 0
        else:
            first = max(0, first - (window - 1))
        kept = max(kept, sinks)
    kept = min(kept, position + 1)
    if kept > first:
        return 0, position + 1
    return first, position - first + 1 + kept
# %% wrong: only the last layer's sinks count
def reached(layers, position):
    first = position
    kept = layers[-1][1] if layers else 0
    for window, sinks in reversed(layers):
        if window is None:
            first = 0
        else:
            first = max(0, first - (window - 1))
    kept = min(kept, position + 1)
    if kept >= first:
        return 0, position + 1
    return first, position - first + 1 + kept
# %% wrong: the gap is never closed: first stays where the windows end
def reached(layers, position):
    first = position
    kept = 0
    for window, sinks in reversed(layers):
        if window is None:
            first = 0
        else:
            first = max(0, first - (window - 1))
        kept = max(kept, sinks)
    kept = min(kept, position + 1)
    if kept >= first:
        return first, position + 1
    return first, position - first + 1 + kept
# %% wrong: the largest window alone says how far one sees
def reached(layers, position):
    if any(window is None for window, _ in layers):
        return 0, position + 1
    widest = max((window for window, _ in layers), default=1)
    sinks = max((s for _, s in layers), default=0)
    first = max(0, position - widest + 1)
    if sinks >= first:
        return 0, position + 1
    return first, position - first + 1 + sinks
# %% wrong: sinks inside the stretch are counted twice
def reached(layers, position):
    first, sinks = position, 0
    for w, s in layers:
        first = 0 if w is None else max(first - w + 1, 0)
        sinks = max(sinks, s)
    count = position - first + 1 + min(sinks, position + 1)
    if sinks >= first:
        first = 0
    return first, count
# %% right: by recursion over the layers, from the last
def reached(layers, position):
    def down(rest, low, sinks):
        if low <= sinks:
            low, sinks = 0, 0
        if not rest:
            return low, sinks
        *below, (w, s) = rest
        low = 0 if w is None else max(low - w + 1, 0)
        return down(below, low, max(sinks, s) if low else 0)

    low, sinks = down(list(layers), position, 0)
    return low, position + 1 - low + sinks
# %% right: sums and maxima at once, the gap as a length
def reached(layers, position):
    back = sum(math.inf if w is None else w - 1 for w, _ in layers)
    sinks = max([s for _, s in layers] + [0])
    gap = 0 if back == math.inf else max(position - back - sinks, 0)
    return (gap + sinks if gap else 0), position + 1 - gap
