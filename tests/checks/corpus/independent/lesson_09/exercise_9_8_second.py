# %% setup
from itertools import accumulate, pairwise

import torch

# %% right: a running name for the stream, and lists at the end
def record_stream(x, sublayers):
    stream, record = x, []
    for sublayer in sublayers:
        change = sublayer(stream)
        record.append((stream, change))
        stream = stream + change
    return [s for s, _ in record] + [stream], [c for _, c in record]

# %% right: accumulates the streams, and takes differences of neighbors
def record_stream(x, sublayers):
    streams = list(accumulate(sublayers, lambda s, f: s + f(s), initial=x))
    return streams, [after - before for before, after in pairwise(streams)]

# %% wrong: asks every sublayer a second time for the record, so what is noted is not what was added if a sublayer drops at random
def record_stream(x, sublayers):
    streams, added = [x], []
    for sublayer in sublayers:
        streams.append(streams[-1] + sublayer(streams[-1]))
        added.append(sublayer(streams[-2]))
    return streams, added

# %% wrong: notes the new stream as what was added
def record_stream(x, sublayers):
    streams, added = [x], []
    for sublayer in sublayers:
        x = x + sublayer(x)
        added.append(x)
        streams.append(x)
    return streams, added

# %% wrong: the last stream is missing
def record_stream(x, sublayers):
    streams, added = [], []
    for sublayer in sublayers:
        streams.append(x)
        added.append(sublayer(x))
        x = x + added[-1]
    return streams, added

# %% wrong: writes the sum into what the sublayer gave
def record_stream(x, sublayers):
    streams, added = [x], []
    for sublayer in sublayers:
        change = sublayer(streams[-1])
        added.append(change)
        streams.append(change.add_(streams[-1]))
    return streams, added

# %% wrong: copies the start and every stream without its history
def record_stream(x, sublayers):
    streams, added = [x], []
    for sublayer in sublayers:
        change = sublayer(x)
        x = torch.tensor((x + change).tolist(), dtype=x.dtype)
        added.append(change)
        streams.append(x)
    return streams, added

# %% wrong: replaces the stream by what the sublayer gave
def record_stream(x, sublayers):
    streams, added = [x], []
    for sublayer in sublayers:
        x = sublayer(x)
        added.append(x - streams[-1])
        streams.append(x)
    return streams, added
