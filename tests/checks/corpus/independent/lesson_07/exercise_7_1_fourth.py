# %% setup
import math


# %% right: one position of one layer first, then as many as there are
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    key = num_kv_heads * d_head
    one_position = (key + key) * bytes_per_number
    return one_position * length * batch_size * num_layers


# %% wrong: takes the size of a group, num_heads // num_kv_heads, for the number of heads that are kept
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    kept = num_heads // num_kv_heads
    return 2 * num_layers * batch_size * kept * d_head * length * bytes_per_number


# %% wrong: keeps the queries as well, num_heads of them beside twice num_kv_heads
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    heads = num_heads + 2 * num_kv_heads
    return num_layers * batch_size * heads * d_head * length * bytes_per_number


# %% wrong: counts what all steps read together, 1 + 2 + ... + length positions
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    positions = length * (length + 1) // 2
    return math.prod([2, num_layers, batch_size, num_kv_heads, d_head, positions, bytes_per_number])
