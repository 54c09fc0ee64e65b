# %% setup
import math

# %% wrong: counts on as if every layer kept every position
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    return memory // (2 * num_layers * batch_size * num_kv_heads * d_head * bytes_per_number)

# %% wrong: takes the full windows away first, also where the text is shorter than the window
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    one = 2 * batch_size * num_kv_heads * d_head * bytes_per_number
    left = memory - num_windowed * window * one
    return max(0, left // (one * (num_layers - num_windowed)))

# %% wrong: the query heads are counted in place of the key/value heads
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    one = 2 * batch_size * num_heads * d_head * bytes_per_number
    room = memory // one
    if room <= num_layers * window:
        return room // num_layers
    return (room - num_windowed * window) // (num_layers - num_windowed)

# %% wrong: divides as broken numbers and cuts off, so large memories lose their last digits
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    room = memory / (2 * batch_size * num_kv_heads * d_head * bytes_per_number)
    if room <= num_layers * window:
        return int(room / num_layers)
    return int((room - num_windowed * window) / (num_layers - num_windowed))

# %% two mistakes: the values are forgotten; and the windowed layers take nothing
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    return memory // ((num_layers - num_windowed) * batch_size * num_kv_heads * d_head * bytes_per_number)

# %% right: halves the interval in which the answer lies, and adds up what each length takes
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    def takes(length):
        kept = num_windowed * min(length, window) + (num_layers - num_windowed) * length
        return 2 * batch_size * num_kv_heads * d_head * bytes_per_number * kept

    low, high = 0, memory + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if takes(middle) <= memory else (low, middle)
    return low

# %% right: the larger of the two lengths that the two cases would give, since the smaller one is too careful
def longest_text(memory, num_layers, num_windowed, window, batch_size, num_heads, num_kv_heads, d_head, bytes_per_number):
    one = math.prod((2, batch_size, num_kv_heads, d_head, bytes_per_number))
    growing, all_keep = num_layers - num_windowed, memory // (one * num_layers)
    return max(all_keep, (memory // one - num_windowed * window) // growing)
