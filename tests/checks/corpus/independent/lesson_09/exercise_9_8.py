# %% setup
import torch

# %% right: works from the end of the list
def record_stream(x, sublayers):
    streams, added = [x], []
    for f in sublayers:
        added += [f(streams[-1])]
        streams += [torch.add(streams[-1], added[-1])]
    return streams, added

# %% right: copies everything, and adds without writing into anything
def record_stream(x, sublayers):
    stream = x.clone()
    streams, added = [stream.clone()], []
    for sublayer in sublayers:
        change = sublayer(stream).clone()
        stream = change + stream
        streams.append(stream.clone())
        added.append(change)
    return streams, added

# %% wrong: keeps copies, but still writes into the caller's tensor
def record_stream(x, sublayers):
    streams, added = [x.clone()], []
    for sublayer in sublayers:
        change = sublayer(x)
        x += change
        added.append(change)
        streams.append(x.clone())
    return streams, added

# %% wrong: copies what is appended later, not the first entry
def record_stream(x, sublayers):
    streams, added = [x], []
    for sublayer in sublayers:
        change = sublayer(x)
        x += change
        added.append(change)
        streams.append(x.clone())
    return streams, added

# %% wrong: one copy at the start, then in place
def record_stream(x, sublayers):
    x = x.clone()
    streams, added = [x], []
    for sublayer in sublayers:
        change = sublayer(x)
        x += change
        added.append(change)
        streams.append(x)
    return streams, added

# %% wrong: detached copies
def record_stream(x, sublayers):
    streams, added = [x.detach().clone()], []
    for sublayer in sublayers:
        change = sublayer(x)
        x = x + change
        added.append(change.detach().clone())
        streams.append(x.detach().clone())
    return streams, added

# %% wrong: a copy is worked on in place, so a sublayer that hands its argument back has its addition changed
def record_stream(x, sublayers):
    streams, added = [x], []
    for sublayer in sublayers:
        x = x.clone()
        change = sublayer(x)
        x += change
        added.append(change)
        streams.append(x)
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


# %% wrong: copies of the stream are kept, but += on the working copy writes into what a sublayer handed back
def record_stream(x, sublayers):
    x = x.clone()
    streams, added = [x.clone()], []
    for f in sublayers:
        c = f(x)
        x += c
        added.append(c)
        streams.append(x.clone())
    return streams, added


# %% wrong: what is noted comes from one call, what is added from another
def record_stream(x, sublayers):
    streams, added = [x], []
    for f in sublayers:
        added.append(f(x))
        x = x + f(x)
        streams.append(x)
    return streams, added
