# %% setup
import torch

# %% wrong: detached copies
def record_stream(x, sublayers):
    streams, added = [x.detach().clone()], []
    for sublayer in sublayers:
        change = sublayer(x)
        x = x + change
        added.append(change.detach().clone())
        streams.append(x.detach().clone())
    return streams, added

# %% two mistakes: the first entry is missing, and every sublayer reads the start
def record_stream(x, sublayers):
    streams, added, total = [], [], x
    for sublayer in sublayers:
        change = sublayer(x)
        total = total + change
        added.append(change)
        streams.append(total)
    return streams, added

# %% wrong: what was added is worked out from the start
def record_stream(x, sublayers):
    streams = [x]
    for sublayer in sublayers:
        streams.append(streams[-1] + sublayer(streams[-1]))
    return streams, [s - x for s in streams[1:]]

# %% wrong: what is noted comes from one call, what is added from another
def record_stream(x, sublayers):
    streams, added = [x], []
    for f in sublayers:
        added.append(f(x))
        x = x + f(x)
        streams.append(x)
    return streams, added

# %% right: works from the end of the list
def record_stream(x, sublayers):
    streams, added = [x], []
    for f in sublayers:
        added += [f(streams[-1])]
        streams += [torch.add(streams[-1], added[-1])]
    return streams, added

# %% right: itertools.accumulate over the sublayers
def record_stream(x, sublayers):
    from itertools import accumulate
    added = []

    def onward(stream, sublayer):
        added.append(sublayer(stream))
        return torch.add(stream, added[-1])

    return list(accumulate(sublayers, onward, initial=x)), added

# %% setup
from itertools import accumulate, pairwise

import torch

# %% wrong: notes the new stream as what was added
def record_stream(x, sublayers):
    streams, added = [x], []
    for sublayer in sublayers:
        x = x + sublayer(x)
        added.append(x)
        streams.append(x)
    return streams, added

# %% wrong: writes the sum into what the sublayer gave
def record_stream(x, sublayers):
    streams, added = [x], []
    for sublayer in sublayers:
        change = sublayer(streams[-1])
        added.append(change)
        streams.append(change.add_(streams[-1]))
    return streams, added

# %% right: accumulates the streams, and takes differences of neighbors
def record_stream(x, sublayers):
    streams = list(accumulate(sublayers, lambda s, f: s + f(s), initial=x))
    return streams, [after - before for before, after in pairwise(streams)]
