# %% setup
def size(layers, length, heads, kv, d):
    total = 0
    for kind, *n in layers:
        if kind == "state":
            total += 4 * heads * n[0] * n[1]
        else:
            total += 4 * kv * d * (length if kind == "full" else min(length, n[0] + n[1]))
    return total

# %% wrong: the first length at which it is smaller
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    corners = sorted({0, 1, *(n[1] + n[2] for n in hybrid + other if n[0] == "window")})
    corners.append(corners[-1] + 10**12)
    smaller = lambda L: size(hybrid, L, num_heads, num_kv_heads, d_head) < size(other, L, num_heads, num_kv_heads, d_head)
    for low, high in zip(corners, corners[1:]):
        if smaller(high):
            while high - low > 1:
                mid = (low + high) // 2
                low, high = (low, mid) if smaller(mid) else (mid, high)
            return high
    return None

# %% wrong: one search by halves over all lengths
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    smaller = lambda L: size(hybrid, L, num_heads, num_kv_heads, d_head) < size(other, L, num_heads, num_kv_heads, d_head)
    low, high = 0, 10**12
    if not smaller(high):
        return None
    while high - low > 1:
        mid = (low + high) // 2
        low, high = (low, mid) if smaller(mid) else (mid, high)
    return high

# %% wrong: tries one length after another, up to a thousand
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    for L in range(1, 1000):
        if size(hybrid, L, num_heads, num_kv_heads, d_head) < size(other, L, num_heads, num_kv_heads, d_head):
            return L
    return None

# %% wrong: the last at which it is not smaller, up to a thousand
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    last = 0
    for L in range(1, 1000):
        if size(hybrid, L, num_heads, num_kv_heads, d_head) >= size(other, L, num_heads, num_kv_heads, d_head):
            last = L
    return None if last == 999 else last + 1

# %% two mistakes: states of 2 bytes; and the first length at which it is smaller
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    half = lambda layers: [("state", n[1], n[2] / 2) if n[0] == "state" else n for n in layers]
    for L in range(1, 1000):
        if size(half(hybrid), L, num_heads, num_kv_heads, d_head) < size(half(other), L, num_heads, num_kv_heads, d_head):
            return L
    return None

# %% right: piece by piece from the far end, by division
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    gap = lambda L: size(hybrid, L, num_heads, num_kv_heads, d_head) - size(other, L, num_heads, num_kv_heads, d_head)
    corners = sorted({0, *(n[1] + n[2] for n in hybrid + other if n[0] == "window")})
    end = corners[-1]
    slope = gap(end + 1) - gap(end)
    if slope > 0 or (slope == 0 and gap(end) >= 0):
        return None
    if gap(end) >= 0:
        return end + gap(end) // -slope + 1
    for low, high in zip(corners[-2::-1], corners[:0:-1]):
        if gap(low) >= 0:
            slope = (gap(high) - gap(low)) // (high - low)
            return max(low + gap(low) // -slope + 1, 1)
    return 1


# %% setup
def size(layers, length, heads, kv, d):
    total = 0
    for kind, *n in layers:
        if kind == "state":
            total += 4 * heads * n[0] * n[1]
        else:
            total += 4 * kv * d * (length if kind == "full" else min(length, n[0] + n[1]))
    return total
from course_utils.linear_attention import feature_map
import math
import torch.nn.functional as F
import torch

# %% wrong: states with 2 bytes a number
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    per_position = 2 * num_kv_heads * d_head * 2

    def size(layers, length):
        total = 0
        for layer in layers:
            if layer[0] == "full":
                total += per_position * length
            elif layer[0] == "window":
                total += per_position * min(length, layer[1] + layer[2])
            else:
                total += num_heads * layer[1] * layer[2] * 2
        return total

    def smaller(length):
        return size(hybrid, length) < size(other, length)

    corners = {1}
    for layer in [*hybrid, *other]:
        if layer[0] == "window":
            corners.add(max(1, layer[1] + layer[2]))
    corners = sorted(corners)
    far = corners[-1] + 1
    slope = size(hybrid, far) - size(other, far)
    slope -= size(hybrid, far - 1) - size(other, far - 1)
    if slope > 0 or (slope == 0 and not smaller(far)):
        return None
    while not smaller(far):
        far *= 2
    good = far
    for corner in reversed(corners):
        if smaller(corner):
            good = corner
            continue
        bad = corner
        while good - bad > 1:
            middle = (good + bad) // 2
            if smaller(middle):
                good = middle
            else:
                bad = middle
        return good
    return 1
# %% wrong: a window holds no sinks
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    per_position = 2 * num_kv_heads * d_head * 2

    def size(layers, length):
        total = 0
        for layer in layers:
            if layer[0] == "full":
                total += per_position * length
            elif layer[0] == "window":
                total += per_position * min(length, layer[1])
            else:
                total += num_heads * layer[1] * layer[2] * 4
        return total

    def smaller(length):
        return size(hybrid, length) < size(other, length)

    corners = {1}
    for layer in [*hybrid, *other]:
        if layer[0] == "window":
            corners.add(max(1, layer[1] + layer[2]))
    corners = sorted(corners)
    far = corners[-1] + 1
    slope = size(hybrid, far) - size(other, far)
    slope -= size(hybrid, far - 1) - size(other, far - 1)
    if slope > 0 or (slope == 0 and not smaller(far)):
        return None
    while not smaller(far):
        far *= 2
    good = far
    for corner in reversed(corners):
        if smaller(corner):
            good = corner
            continue
        bad = corner
        while good - bad > 1:
            middle = (good + bad) // 2
            if smaller(middle):
                good = middle
            else:
                bad = middle
        return good
    return 1
# %% wrong: keys and values counted for all heads, not for the kv heads
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    per_position = 2 * num_heads * d_head * 2

    def size(layers, length):
        total = 0
        for layer in layers:
            if layer[0] == "full":
                total += per_position * length
            elif layer[0] == "window":
                total += per_position * min(length, layer[1] + layer[2])
            else:
                total += num_heads * layer[1] * layer[2] * 4
        return total

    def smaller(length):
        return size(hybrid, length) < size(other, length)

    corners = {1}
    for layer in [*hybrid, *other]:
        if layer[0] == "window":
            corners.add(max(1, layer[1] + layer[2]))
    corners = sorted(corners)
    far = corners[-1] + 1
    slope = size(hybrid, far) - size(other, far)
    slope -= size(hybrid, far - 1) - size(other, far - 1)
    if slope > 0 or (slope == 0 and not smaller(far)):
        return None
    while not smaller(far):
        far *= 2
    good = far
    for corner in reversed(corners):
        if smaller(corner):
            good = corner
            continue
        bad = corner
        while good - bad > 1:
            middle = (good + bad) // 2
            if smaller(middle):
                good = middle
            else:
                bad = middle
        return good
    return 1
# %% wrong: the first length at which the hybrid is smaller, even if a longer one comes at which it isn't
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    per_position = 2 * num_kv_heads * d_head * 2

    def size(layers, length):
        total = 0
        for layer in layers:
            if layer[0] == "full":
                total += per_position * length
            elif layer[0] == "window":
                total += per_position * min(length, layer[1] + layer[2])
            else:
                total += num_heads * layer[1] * layer[2] * 4
        return total

    def smaller(length):
        return size(hybrid, length) < size(other, length)

    corners = {1}
    for layer in [*hybrid, *other]:
        if layer[0] == "window":
            corners.add(max(1, layer[1] + layer[2]))
    corners = sorted(corners)
    far = corners[-1] + 1
    slope = size(hybrid, far) - size(other, far)
    slope -= size(hybrid, far - 1) - size(other, far - 1)
    if slope > 0 or (slope == 0 and not smaller(far)):
        return None
    while not smaller(far):
        far *= 2
    corners.append(far)
    if smaller(1):
        return 1
    for bad, good in zip(corners, corners[1:]):
        if smaller(good):
            while good - bad > 1:
                middle = (good + bad) // 2
                if smaller(middle):
                    good = middle
                else:
                    bad = middle
            return good
# %% wrong: equal counts as smaller
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    per_position = 2 * num_kv_heads * d_head * 2

    def size(layers, length):
        total = 0
        for layer in layers:
            if layer[0] == "full":
                total += per_position * length
            elif layer[0] == "window":
                total += per_position * min(length, layer[1] + layer[2])
            else:
                total += num_heads * layer[1] * layer[2] * 4
        return total

    def smaller(length):
        return size(hybrid, length) <= size(other, length)

    corners = {1}
    for layer in [*hybrid, *other]:
        if layer[0] == "window":
            corners.add(max(1, layer[1] + layer[2]))
    corners = sorted(corners)
    far = corners[-1] + 1
    slope = size(hybrid, far) - size(other, far)
    slope -= size(hybrid, far - 1) - size(other, far - 1)
    if slope > 0 or (slope == 0 and not smaller(far)):
        return None
    while not smaller(far):
        far *= 2
    good = far
    for corner in reversed(corners):
        if smaller(corner):
            good = corner
            continue
        bad = corner
        while good - bad > 1:
            middle = (good + bad) // 2
            if smaller(middle):
                good = middle
            else:
                bad = middle
        return good
    return 1
# %% wrong: None whenever the full layers are as many, though the windows or states differ
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    per_position = 2 * num_kv_heads * d_head * 2

    def size(layers, length):
        total = 0
        for layer in layers:
            if layer[0] == "full":
                total += per_position * length
            elif layer[0] == "window":
                total += per_position * min(length, layer[1] + layer[2])
            else:
                total += num_heads * layer[1] * layer[2] * 4
        return total

    def smaller(length):
        return size(hybrid, length) < size(other, length)

    corners = {1}
    for layer in [*hybrid, *other]:
        if layer[0] == "window":
            corners.add(max(1, layer[1] + layer[2]))
    corners = sorted(corners)
    far = corners[-1] + 1
    slope = size(hybrid, far) - size(other, far)
    slope -= size(hybrid, far - 1) - size(other, far - 1)
    if slope >= 0:
        return None
    while not smaller(far):
        far *= 2
    good = far
    for corner in reversed(corners):
        if smaller(corner):
            good = corner
            continue
        bad = corner
        while good - bad > 1:
            middle = (good + bad) // 2
            if smaller(middle):
                good = middle
            else:
                bad = middle
        return good
    return 1
# %% wrong: only the piece behind the last corner is looked at
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    per_position = 2 * num_kv_heads * d_head * 2

    def size(layers, length):
        total = 0
        for layer in layers:
            if layer[0] == "full":
                total += per_position * length
            elif layer[0] == "window":
                total += per_position * min(length, layer[1] + layer[2])
            else:
                total += num_heads * layer[1] * layer[2] * 4
        return total

    def smaller(length):
        return size(hybrid, length) < size(other, length)

    corners = {1}
    for layer in [*hybrid, *other]:
        if layer[0] == "window":
            corners.add(max(1, layer[1] + layer[2]))
    corners = sorted(corners)
    far = corners[-1] + 1
    slope = size(hybrid, far) - size(other, far)
    slope -= size(hybrid, far - 1) - size(other, far - 1)
    if slope > 0 or (slope == 0 and not smaller(far)):
        return None
    while not smaller(far):
        far *= 2
    bad, good = corners[-1] - 1, far
    while good - bad > 1:
        middle = (good + bad) // 2
        if smaller(middle):
            good = middle
        else:
            bad = middle
    return good
# %% right: from each piece the last length that isn't smaller, by whole-number division, and the largest of all
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    unit = 4 * num_kv_heads * d_head
    fixed, full, windows = 0, 0, []  # of hybrid minus other
    for sign, layers in ((1, hybrid), (-1, other)):
        for kind, *numbers in layers:
            if kind == "state":
                fixed += sign * 4 * num_heads * math.prod(numbers)
            elif kind == "full":
                full += sign * unit
            else:
                windows.append((sum(numbers), sign * unit))
    more = lambda L: fixed + full * L + sum(u * min(L, c) for c, u in windows)
    ends = sorted({1} | {c for c, _ in windows if c > 1})
    worst = 0  # the last length at which the hybrid isn't smaller
    for left, right in zip(ends, ends[1:]):
        a, b = more(left), more(right)
        if b >= 0:
            worst = max(worst, right)
        elif a >= 0:
            slope = (a - b) // (right - left)  # falls by so much a position
            worst = max(worst, left + a // slope)
    last = more(ends[-1])
    if full > 0 or (full == 0 and last >= 0):
        return None
    if last >= 0:
        worst = max(worst, ends[-1] + last // -full)
    return worst + 1
# %% right: recursion: walks back from a length that is surely long enough, with the slope of each piece
def smaller_from(hybrid, other, num_heads, num_kv_heads, d_head):
    unit = 2 * 2 * num_kv_heads * d_head

    def held(layer, L):
        match layer:
            case ("full",):
                return unit * L
            case ("window", w, s):
                return unit * min(L, w + s)
            case ("state", d_k, d_v):
                return 4 * num_heads * d_k * d_v

    def ahead(L):
        return sum(held(x, L) for x in other) - sum(held(x, L) for x in hybrid)

    limits = [x[1] + x[2] for x in (*hybrid, *other) if x[0] == "window"]
    corners = sorted(set([1] + [c for c in limits if c >= 1]))
    rise = sum(x[0] == "full" for x in other) - sum(x[0] == "full" for x in hybrid)
    if rise < 0 or (rise == 0 and ahead(corners[-1]) <= 0):
        return None

    def back(index, good):
        if index < 0:
            return good
        corner = corners[index]
        if ahead(corner) > 0:
            return back(index - 1, corner)
        # not ahead at the corner: so many steps of one slope until it is above 0
        slope = ahead(corner + 1) - ahead(corner)
        return corner + -ahead(corner) // slope + 1

    return back(len(corners) - 1, None)
