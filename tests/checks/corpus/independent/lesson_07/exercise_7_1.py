# %% setup
import torch

from course_utils.masks import causal_mask

# %% wrong: counts only the keys and forgets that the values take the same room again
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    return num_layers * batch_size * num_kv_heads * d_head * length * bytes_per_number


# %% wrong: uses the number of query heads where the number of key/value heads belongs
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    keys = num_heads * d_head * length
    values = num_heads * d_head * length
    return num_layers * batch_size * (keys + values) * bytes_per_number


# %% wrong: takes num_heads in place of twice num_kv_heads, which agrees with the example only because there are twice as many query heads there
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    return num_layers * batch_size * num_heads * d_head * length * bytes_per_number


# %% wrong: forgets the batch size, so that it counts one sequence only
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    per_layer = 2 * num_kv_heads * d_head * length * bytes_per_number
    return num_layers * per_layer


# %% wrong: multiplies in float32 before turning to a whole number, so large caches are rounded to about seven digits
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    factors = torch.tensor([2, num_layers, batch_size, num_kv_heads, d_head, length, bytes_per_number], dtype=torch.float32)
    return int(factors.prod().item())


# %% wrong: leaves the newest position out and counts length - 1 positions
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    # the token we are at does not need to be cached
    numbers = 2 * num_layers * batch_size * num_kv_heads * d_head * (length - 1)
    return numbers * bytes_per_number


# %% two mistakes: always takes 4 bytes per number; and forgets the number of layers
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    return 2 * batch_size * num_kv_heads * d_head * length * 4


# %% right: multiplies with math.prod over a tuple
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    import math

    return math.prod((2, num_layers, batch_size, num_kv_heads, length, d_head, bytes_per_number))


# %% right: starts from the multi-head cache and divides by the group size at the end, exact in whole numbers
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    multi_head = 2 * num_layers * batch_size * num_heads * d_head * length * bytes_per_number
    return multi_head * num_kv_heads // num_heads


# %% right: adds up layer by layer in a loop, keys and values each on their own
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    total = 0
    for _ in range(num_layers):
        for _ in ("keys", "values"):
            total += batch_size * num_kv_heads * length * d_head * bytes_per_number
    return total
