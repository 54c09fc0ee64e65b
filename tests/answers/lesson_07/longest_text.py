# %% setup
import math

# %% wrong: counts query heads instead of key/value heads
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    unit = 2 * batch_size * num_heads * d_head * bytes_per_number
    fit = memory // unit
    if fit <= num_layers * window:
        return fit // num_layers
    return (fit - num_windowed * window) // (num_layers - num_windowed)

# %% wrong: counts keys and forgets the values
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    unit = batch_size * num_kv_heads * d_head * bytes_per_number
    fit = memory // unit
    if fit <= num_layers * window:
        return fit // num_layers
    return (fit - num_windowed * window) // (num_layers - num_windowed)

# %% wrong: all windows count as full, also when the text is shorter than the window
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    unit = 2 * batch_size * num_kv_heads * d_head * bytes_per_number
    left = memory - num_windowed * window * unit
    return max(0, left // (unit * (num_layers - num_windowed)))

# %% wrong: ignores the windows, every layer keeps every position
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    return memory // (2 * num_layers * batch_size * num_kv_heads * d_head * bytes_per_number)

# %% wrong: forgets that there are several sequences
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    fit = memory // (2 * num_kv_heads * d_head * bytes_per_number)
    if fit <= num_layers * window:
        return fit // num_layers
    return (fit - num_windowed * window) // (num_layers - num_windowed)

# %% wrong: divides with / and int, which loses digits in large numbers
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    unit = 2 * batch_size * num_kv_heads * d_head * bytes_per_number
    length = memory / (num_layers * unit)
    if length > window:
        length = (memory / unit - num_windowed * window) / (num_layers - num_windowed)
    return int(length)

# %% wrong: the layers with a window count for nothing
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    unit = 2 * batch_size * num_kv_heads * d_head * bytes_per_number
    return memory // (unit * (num_layers - num_windowed))

# %% wrong: rounds to the nearest whole number, so the cache may not fit
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    unit = 2 * batch_size * num_kv_heads * d_head * bytes_per_number
    length = memory / (num_layers * unit)
    if length > window:
        length = (memory - num_windowed * window * unit) / (unit * (num_layers - num_windowed))
    return round(length)

# %% wrong: after the windows are full it shares the rest out but adds the window to it, as if the plain layers had those positions on top
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    unit = 2 * batch_size * num_kv_heads * d_head * bytes_per_number
    fit = memory // unit
    if fit <= num_layers * window:
        return fit // num_layers
    return window + (fit - num_windowed * window) // (num_layers - num_windowed)

# %% wrong: takes window and full layers the wrong way round: num_windowed layers keep everything
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    unit = 2 * batch_size * num_kv_heads * d_head * bytes_per_number
    fit = memory // unit
    full = num_layers - num_windowed
    if num_windowed == 0 or fit <= num_layers * window:
        return fit // num_layers
    return (fit - full * window) // num_windowed

# %% wrong: a query's bytes are counted too, as a third tensor beside keys and values
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    unit = batch_size * (2 * num_kv_heads + num_heads) * d_head * bytes_per_number
    fit = memory // unit
    if fit <= num_layers * window:
        return fit // num_layers
    return (fit - num_windowed * window) // (num_layers - num_windowed)

# %% wrong: cuts each layer's part down before it compares it with the window, so a part of 6.75 counts as within a window of 6
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    fit = memory // (2 * batch_size * num_kv_heads * d_head * bytes_per_number)
    part = fit // num_layers
    if part <= window:
        return part
    return (fit - num_windowed * window) // (num_layers - num_windowed)

# %% two mistakes: forgets the values; and counts all windows as full
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    unit = batch_size * num_kv_heads * d_head * bytes_per_number
    left = memory - num_windowed * window * unit
    return max(0, left // (unit * (num_layers - num_windowed)))

# %% two mistakes: counts query heads; and ignores the windows
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    return memory // (2 * num_layers * batch_size * num_heads * d_head * bytes_per_number)

# %% two mistakes: the values are forgotten; and the windowed layers take nothing
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    return memory // ((num_layers - num_windowed) * batch_size * num_kv_heads * d_head * bytes_per_number)

# %% right: the larger of the two formulas, since past the window the second one wins
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    fit = memory // (2 * batch_size * num_kv_heads * d_head * bytes_per_number)
    return max(fit // num_layers, (fit - num_windowed * window) // (num_layers - num_windowed))

# %% right: a search by halving over the length, with the cache's size as a function
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    def size(n):
        positions = num_windowed * min(n, window) + (num_layers - num_windowed) * n
        return 2 * positions * batch_size * num_kv_heads * d_head * bytes_per_number
    low, high = 0, 1
    while size(high) <= memory:
        high *= 2
    while high - low > 1:
        mid = (low + high) // 2
        low, high = (mid, high) if size(mid) <= memory else (low, mid)
    return low

# %% right: exact fractions, cut down at the very end
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    from fractions import Fraction
    per = Fraction(memory, 2 * batch_size * num_kv_heads * d_head * bytes_per_number)
    n = per / num_layers
    if n > window:
        n = (per - num_windowed * window) / (num_layers - num_windowed)
    return math.floor(n)
