"""The worked solutions against truth from outside: PyTorch, the library (held to PyTorch in its own tests), by hand."""

import functools
import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from course_checks.deciding.decide import cases_of
from course_checks.deciding.find import find
from course_checks.engine import SEED
from course_checks.lesson_07.cached_attention import outputs_of
from course_checks.running.drivers.lesson_10 import SIZES, drive_pieces, in_turn, settle
from course_checks.running.drivers.lesson_12 import small_model
from course_utils import attention, decoding, layers, masks, metrics, multi_head, positions, similarity
from course_utils.datasets import word_vectors
from course_utils.datasets.text_windows import seen_before
from course_utils.kv_cache import KVCache
from course_utils.metrics import text_scores
from course_utils.models import DecoderConfig, DecoderLM, Transformer, TransformerConfig

ORACLES = {}  # number -> (function of a case's arguments, tolerances)


def oracle(*numbers, **tolerances):
    """The function below says what the solution gives in each case."""

    def noted(function):
        ORACLES.update(dict.fromkeys(numbers, (function, tolerances)))
        return function

    return noted


def right(number):
    return find(number).right


def results(number, seed=SEED):
    """What the solution gives in each case, beside the case."""
    exercise = find(number)
    return [(case, exercise.call.on(exercise.right, case)) for case in cases_of(exercise, seed)]


def weighted(query, key, value, **options):
    """PyTorch's attention and its weights, which are what it makes of an identity matrix."""
    everything = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], -1)
    return tuple(F.scaled_dot_product_attention(query, key, which, **options) for which in (value, everything))


def additive(state, encoded, value, W_q, W_k, w_v, mask=None):
    layer = attention.AdditiveAttention(W_q.shape[1], W_k.shape[1], len(w_v)).to(state.dtype)
    layer.load_state_dict({"q_proj.weight": W_q, "k_proj.weight": W_k, "v_proj.weight": w_v[None]})
    return layer(state, encoded, value, mask)


def grouped(x, W_q, W_k, W_v, W_o, heads, kv_heads, mask):
    counts = ((W_q, heads), (W_k, kv_heads), (W_v, kv_heads))
    q, k, v = (F.linear(x, W).unflatten(-1, (count, -1)).transpose(1, 2) for W, count in counts)
    attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    return F.linear(attended.transpose(1, 2).flatten(2), W_o)


# Lessons 00 and 01

oracle("0.1")(lambda x, real: F.normalize(x.masked_fill(~real[:, None], 0.0), p=1, dim=-1))
oracle("0.3")(lambda ids, pad_id: (ids[:, :-1], torch.where(ids == pad_id, -100, ids)[:, 1:]))
oracle("0.4")(lambda x, order: x.movedim(tuple(range(x.dim())), order))
oracle("0.5")(lambda weights, values: (weights @ values).transpose(1, 2).flatten(2))
oracle("0.6")(lambda x, num_heads: (torch.stack(x.chunk(num_heads, dim=-1), dim=1), True))
oracle("0.7")(lambda x, ids, pad_id: x.masked_fill((ids == pad_id)[..., None], torch.nan).nanmean(dim=1))
oracle("1.1")(lambda a, b: torch.tensordot(a, b, dims=a.dim()))
oracle("1.2")(similarity.cosine_similarity)
oracle("1.4")(similarity.similarity_matrix)
oracle("1.5")(lambda query, keys, k: similarity.nearest_neighbors(query, keys, k)[1])


@oracle("0.2")
def _(sequences, pad_id):
    rows = [torch.tensor(ids) for ids in sequences]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)


def test_1_3_is_pytorchs_distance():
    B, L_q, L_k, d = 2, 3, 4, 5
    rng = torch.Generator().manual_seed(0)
    q, k = torch.randn(B, L_q, d, generator=rng), torch.randn(B, L_k, d, generator=rng)
    ours = right("1.3")(q @ q.mT, q @ k.mT, k @ k.mT)
    torch.testing.assert_close(ours, torch.cdist(q, k) ** 2, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("seed", [SEED, 1, 2])
def test_1_6_makes_the_librarys_vectors_without_its_refinement(seed):
    for case, vectors in results("1.6", seed):
        counts = word_vectors.cooccurrence_counts(case["words"], case["vocabulary"], case["window"])
        U, sizes, _ = torch.linalg.svd(word_vectors.positive_pmi(counts, smoothing=1.0))
        kept = (U * sizes.sqrt())[:, : case["r"]]
        torch.testing.assert_close(vectors @ vectors.T, kept @ kept.T, atol=1e-4, rtol=1e-4)
        distances = sizes - torch.cat([sizes[1:], torch.zeros(1)])
        assert distances[: case["r"]].min() > 0.02  # so each column is known but for its sign


@oracle("1.8")
def _(queries, keys):
    return torch.stack([torch.stack([similarity.similarity_matrix(q, k).amax(1).sum() for k in keys]) for q in queries])


# Lesson 02

oracle("2.1")(lambda scores: torch.softmax(scores, dim=-1))
oracle("2.5")(lambda query, key, value, *parameters: additive(query, key, value, *parameters))


@oracle("2.6")
def _(query, key, value, bandwidth):
    weights = torch.softmax(-(torch.cdist(query, key) ** 2) / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights


@oracle("2.2")
def _(x_query, x_key, y_key, bandwidth):
    rows = []
    for q in x_query:
        kernel = torch.stack([torch.relu(1 - ((q - k) / bandwidth) ** 2) for k in x_key])
        distance = (q - x_key).abs()
        kernel = kernel if kernel.any() else (distance == distance.min()).to(kernel.dtype)
        rows.append(kernel / kernel.sum())
    return torch.stack(rows) @ y_key, torch.stack(rows)


@oracle("2.3")
def _(x, y, bandwidths):
    def without(values, j):
        return torch.cat([values[:j], values[j + 1 :]])

    errors = []
    for h in bandwidths:
        predicted = [attention.nadaraya_watson(x[j : j + 1], without(x, j), without(y, j), h)[0] for j in range(len(x))]
        errors.append(((torch.cat(predicted) - y) ** 2).mean())
    return torch.stack(errors), bandwidths[torch.stack(errors).argmin()]


@pytest.mark.parametrize("seed", [SEED, 1, 2])
def test_2_4_as_many_keys_count_as_were_asked_for(seed):
    for case, T in results("2.4", seed):
        keys = torch.special.entr(torch.softmax(case["scores"] / T[:, None], -1)).sum(-1).exp()
        at_an_end = (T < 0.01001) & (keys > case["count"]) | (T > 99.99) & (keys < case["count"])
        assert (at_an_end | ((keys - case["count"]).abs() < 1e-3)).all()
        assert at_an_end.any() == ("no temperature fits" in case.labels)


# Lesson 03


@oracle("3.1")
def _(state, encoded, W_q, W_k, w_v, mask):
    context, weights = additive(state[:, None], encoded, encoded, W_q, W_k, w_v, mask[:, None])
    return context[:, 0], weights[:, 0]


@oracle("3.2")
def _(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    f = F.conv1d(previous[:, None], filters[:, None], padding=filters.shape[1] // 2).transpose(1, 2)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return scores.masked_fill(~mask, -math.inf).softmax(-1)


def errors_by_kind(said, right):
    """Fewest edits, then the most replacements: over every way, from the front."""

    @functools.cache
    def rest(i, j):  # edits, minus replaced, missing, extra
        if i == len(said) or j == len(right):
            missing, extra = len(right) - j, len(said) - i
            return missing + extra, 0, missing, extra
        other = said[i] != right[j]
        steps = ((1, 1, (other, -other, 0, 0)), (0, 1, (1, 0, 1, 0)), (1, 0, (1, 0, 0, 1)))
        return min(tuple(map(sum, zip(rest(i + di, j + dj), cost, strict=True))) for di, dj, cost in steps)

    return rest(0, 0)


@oracle("3.5")
def rates_by_kind(hypotheses, references):
    totals, length = torch.zeros(3, dtype=torch.double), 0
    for said, accepted in zip(hypotheses, references, strict=True):
        right = min(accepted, key=functools.partial(metrics.edit_distance, said))
        _, replaced, missing, extra = errors_by_kind(tuple(said), tuple(right))
        totals, length = totals + torch.tensor([-replaced, missing, extra]), length + len(right)
    return tuple((totals / length).tolist())


def test_3_5_splits_the_phoneme_error_rate():
    for case, result in results("3.5"):
        assert sum(result) == pytest.approx(metrics.phoneme_error_rate(*case.values()))


def one_of_the_accepted(model, source, target, pad_id):
    """Pronunciation by pronunciation, symbol by symbol, in double precision."""
    losses = []
    for word, accepted in zip(source, target, strict=True):
        log_ps = []
        for row in accepted:
            symbols = [symbol for symbol in row.tolist() if symbol != pad_id]
            if symbols:
                log_p = model(word[None], torch.tensor([symbols[:-1]]))[0].double().log_softmax(-1)
                log_ps.append(sum(log_p[t, symbol] for t, symbol in enumerate(symbols[1:])))
        losses.append(-torch.stack(log_ps).logsumexp(0))
    return torch.stack(losses).mean().float()


def test_3_3_adds_up_the_probabilities_of_the_accepted_pronunciations():
    call = find("3.3").call
    for case, result in results("3.3"):
        torch.testing.assert_close(result, call.on(one_of_the_accepted, case))


def test_3_4_decodes_the_statements_example():
    script = torch.tensor([[7, 8], [1, 9], [4, 1], [5, 5]])  # said at each step by rows 0 and 1; 1 is the end

    def step(tokens, made):
        return F.one_hot(script[made[0]], 10).float(), made + 1

    assert right("3.4")(step, torch.zeros(2, dtype=torch.long), 2, 1, 0, 4).tolist() == [[7, 1, 0], [8, 9, 1]]


def test_3_6_at_sound_t_looks_at_letter_t():
    def look_at_letter(state):  # the state counts the steps
        weights = F.one_hot(state[:, 0].long(), 4).float()
        return weights @ torch.tensor([[10.0], [20.0], [30.0], [40.0]]), weights

    features, weights = right("3.6")(torch.zeros(1, 3, 2), torch.zeros(1, 1), look_at_letter, lambda x, s: s + 1)
    assert features.tolist() == [[[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]]
    assert weights[0].argmax(-1).tolist() == [0, 1, 2]


# Lesson 04

oracle("4.1", atol=1e-4, rtol=1e-4)(weighted)
oracle("4.3", atol=1e-4, rtol=1e-3)(lambda x, wanted: wanted)
oracle("4.5")(lambda query, key, value, block_sizes: F.scaled_dot_product_attention(query, key, value))


def test_every_kind_of_layer_is_told_by_4_2():
    exercise = find("4.2")
    for case in cases_of(exercise, SEED):
        kind = [case.driver[name] for name in ("queries", "keys", "values")]
        assert exercise.call.on(exercise.right, case) == kind
    assert len({tuple(case.driver.values())[:3] for case in cases_of(exercise, SEED)}) == 8


def test_4_4_says_what_the_broken_layers_weights_look_like():
    rng = torch.Generator().manual_seed(0)
    for case, verdict in results("4.4"):
        scores = 3 * torch.randn(1, case["L"], generator=rng, dtype=torch.float64)
        largest, wanted = ((scores / case[size] ** 0.5).softmax(-1).amax() for size in ("L", "d_k"))
        close = torch.allclose(largest, wanted)
        assert verdict == ("right" if close else "too sharp" if largest > wanted else "too even")


# Lesson 05

oracle("5.1")(masks.padding_mask)
oracle("5.2")(lambda L_q, L_k: masks.causal_mask(L_q, L_k)[0, 0])
oracle("5.8")(lambda query, key, value, keep: weighted(query, key, value, attn_mask=keep[:, None, None]))
AHEAD = {
    *("no mask", "one step ahead", "only the first query sees the future", "one query sees the next key"),
    *("future zeroed after the softmax", "sees ahead in the second item only", "three steps ahead only"),
    *("one entry of each token moves back", "opposite changes in two entries", "normalized first", "normalized last"),
    *("tokens turned, their lengths kept", "faint", "fainter"),
}


@oracle("5.6")
def _(masks):
    seen = [{i} for i in range(masks.shape[-1])]
    for mask in masks.tolist():
        seen = [seen[i].union(*(seen[j] for j, allowed in enumerate(row) if allowed)) for i, row in enumerate(mask)]
    return torch.tensor([[j in row for j in range(len(seen))] for row in seen])


def test_5_3_a_packed_text_comes_out_as_it_does_alone_and_is_not_asked_for_the_next():
    attend = attention.scaled_dot_product_attention
    for case, (mask, places, asked) in results("5.3"):
        x = torch.randn(len(case["lengths"]), case["L"], 4)
        together, _ = attend(x, x, x, mask[:, 0])
        for b, lengths in enumerate(case["lengths"].tolist()):
            start = 0
            for length in filter(None, lengths):
                text = slice(start, start + length)
                own = x[b : b + 1, text]
                alone, _ = attend(own, own, own, masks.causal_mask(length)[0])
                torch.testing.assert_close(together[b : b + 1, text], alone)
                assert places[b, text].tolist() == list(range(length))
                assert asked[b, text].tolist() == [True] * (length - 1) + [False]
                start += length
            assert not (mask[b, 0, :, start:].any() or places[b, start:].any() or asked[b, start:].any())


def test_5_4_the_softmax_of_its_scores_is_pytorchs_with_all_masks():
    for case, scores in results("5.4"):
        hidden, bias = torch.zeros_like(scores, dtype=torch.bool), 0.0
        for name, hides in (
            ("attend", lambda m: ~m),
            ("ignore", lambda m: m),
            ("keep", lambda m: m[:, None, None] == 0),
        ):
            hidden = hidden if case[name] is None else hidden | hides(case[name])
        if case["add"] is not None:
            closed = case["add"] <= torch.finfo(case["add"].dtype).min
            hidden, bias = hidden | closed, case["add"].double().masked_fill(closed, 0.0)
        expected = (case["scores"].double() + bias).masked_fill(hidden, -torch.inf)
        assert scores.dtype == case["scores"].dtype and not scores.isnan().any()
        torch.testing.assert_close(scores.double(), expected)


def test_5_5_is_the_librarys_and_zero_in_empty_rows():
    for case, weights in results("5.5"):
        scores, mask = case["scores"], case["mask"]
        broken = (scores.isnan() & mask).any(-1)
        torch.testing.assert_close(weights[~broken], attention.masked_softmax(scores, mask)[~broken])
        assert weights[mask & broken[..., None]].isnan().all() and not weights[~mask.expand_as(weights)].any()


@pytest.mark.parametrize("seed", [SEED, 1, 2])
def test_5_7_who_sees_whom_is_what_a_change_of_one_input_moves(seed):
    entry = find("5.7")
    for case in cases_of(entry, seed):
        attend, x = entry.call.shown(case).values()
        table = entry.right(attend, x)
        assert bool(table.triu(1).any()) == (case["attend"] in AHEAD)
        before = attend(x)
        for j in range(len(table)):
            changed = x.clone()
            changed[:, j] = torch.randn_like(changed[:, j])
            moved = (attend(changed) - before).abs().amax((0, 2))
            assert torch.equal(moved > 1e-6, table[:, j])


# Lesson 06


def test_6_1_gives_what_three_products_give():
    """The packed matrix of a checkpoint, head by head, is the three matrices of a layer cut into heads and laid together."""
    torch.manual_seed(0)
    x, matrices = torch.randn(2, 5, 8), torch.randn(3, 12, 8)  # (B, L, d_in), (3, d_model, d_in)
    packed = matrices.unflatten(1, (3, 4)).transpose(0, 1).flatten(0, 2)  # H = 3, d_head = 4: (H * 3 * d_head, d_in)
    for made, matrix in zip(right("6.1")(x @ packed.T, 3), matrices, strict=True):
        torch.testing.assert_close(made, multi_head.split_heads(x @ matrix.T, 3))


def test_6_2_gives_the_right_split_back():
    x = torch.randn(2, 5, 12)
    assert torch.equal(right("6.2")(x.reshape(2, 3, 5, 4)), multi_head.split_heads(x, 3))


def test_6_3_is_pytorchs_multi_head_attention():
    torch.manual_seed(0)
    module = nn.MultiheadAttention(12, 3, batch_first=True)
    nn.init.normal_(module.in_proj_bias)
    nn.init.normal_(module.out_proj.bias)
    query, memory, mask = torch.randn(2, 4, 12), torch.randn(2, 5, 12), torch.ones(4, 5, dtype=torch.bool).tril(1)
    params = {}
    for part in ("weight", "bias"):
        thirds = module.get_parameter(f"in_proj_{part}").chunk(3)
        params |= {f"{name}_proj.{part}": third for name, third in zip("qkv", thirds, strict=True)}
        params[f"o_proj.{part}"] = module.get_parameter(f"out_proj.{part}")
    expected = module(query, memory, memory, attn_mask=~mask, average_attn_weights=False)
    torch.testing.assert_close(right("6.3")(query, memory, params, 3, mask), expected)


def test_6_4_is_pytorchs_without_bias_or_output_projection():
    for case, (output, weights) in results("6.4"):
        query, memory, *matrices, H = case.values()
        inputs = zip((query, memory, memory), matrices, strict=True)
        q, k, v = (multi_head.split_heads(x @ W.T, H) for x, W in inputs)
        expected = F.scaled_dot_product_attention(q, k, v)
        torch.testing.assert_close(output, multi_head.merge_heads(expected))
        torch.testing.assert_close(torch.einsum("bijh,bhjd->bhid", weights, v), expected)


def test_6_5_is_one_sequence_at_a_time():
    for case, (output, misled) in results("6.5"):
        q, k, v, mask = case.values()
        H = len(q) // len(mask)
        for item in range(len(mask)):
            mine = slice(item * H, (item + 1) * H)
            expected = F.scaled_dot_product_attention(q[mine], k[mine], v[mine], attn_mask=mask[item])
            torch.testing.assert_close(output[mine], expected)
        repeated, theirs = mask.repeat(H, 1, 1), mask.repeat_interleave(H, dim=0)
        assert torch.equal(misled, (repeated != theirs).flatten(1).any(dim=1))


def test_6_7_roles_of_the_statements_example():
    case, roles = results("6.7")[0]
    assert case["alone"].tolist() == [0, 0, 2, 0] and case["pairs"][0].tolist() == [0, 1, 2, 0]
    assert roles == ["doubled", "doubled", "needed", "idle"]


# Lesson 07

oracle("7.4")(grouped)


@oracle("7.6")
def _(query, key, value, mask):
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True)


@oracle("7.10", atol=1e-5, rtol=1e-4)
def _(query, latent, W_up):
    size = W_up.abs().amax(1, keepdim=True)  # without it the keys of one case overflow
    key = F.linear(latent, W_up / size).unflatten(-1, (query.shape[1], -1)).transpose(1, 2)  # (B, H, L_k, d_head)
    return query * size.view(query.shape[1], 1, -1) @ key.mT / query.shape[-1] ** 0.5, False


@oracle("7.7", atol=1e-5, rtol=1e-4)
def _(W_q, W_k, W_v, W_o, heads, kv_heads, x, pieces):
    causal = torch.ones(x.shape[1], x.shape[1]).tril().bool()
    later = {"W_q": W_q, "W_k": W_k, "W_v": W_v, "W_o": W_o, "num_heads": heads, "num_kv_heads": kv_heads, "x": x}
    after = outputs_of(later, 8) if len(pieces) == 16 else None
    return grouped(x, W_q, W_k, W_v, W_o, heads, kv_heads, causal), False, after


def test_7_1_is_the_last_length_that_fits():
    for number in range(len(find("7.1").cases(5))):
        case = find("7.1").cases(5)[number]
        length, names = right("7.1")(**case), ("batch_size", "num_kv_heads", "d_head", "bytes_per_number")
        one = 2 * math.prod(case[name] for name in names)

        def takes(length, case=case, one=one):
            grows = case["num_layers"] - case["num_windowed"]
            return one * (case["num_windowed"] * min(length, case["window"]) + grows * length)

        assert takes(length) <= case["memory"] < takes(length + 1)


def test_7_3_gives_the_same_outputs_with_the_other_partners():
    x, causal = torch.randn(2, 5, 12), torch.ones(5, 5).tril().bool()
    W_q, W_o = torch.randn(2, 12, 12)
    W_k, W_v = torch.randn(2, 4, 12)
    tiled = [W.view(2, 2, 12).repeat(3, 1, 1).flatten(0, 1) for W in (W_k, W_v)]  # query head h meets head h % 2
    old = grouped(x, W_q, *tiled, W_o, 6, 6, causal)
    new_q, new_o = right("7.3")(W_q, W_o, 6, 2)
    torch.testing.assert_close(grouped(x, new_q, W_k, W_v, new_o, 6, 2, causal), old, atol=1e-4, rtol=1e-4)


def test_7_2_is_the_librarys_cache():
    cache, own = right("7.2")(2, 3, 6, 4), KVCache(2, 3, 6, 4)
    for new in (2, 1, 3):
        key, value = torch.randn(2, 2, 3, new, 4)
        torch.testing.assert_close(cache.update(key, value), own.update(key, value))
    with pytest.raises(ValueError, match="fit"):
        cache.update(key, value)


def test_7_8_by_hand():
    cache, texts = right("7.8")(1, 2), ([1.0, 2.0], [3.0], [4.0, 5.0, 6.0])
    new = [torch.tensor(text).view(1, 1, -1, 1) for text in texts]
    assert [cache.update(key, key)[0].flatten().tolist() for key in new] == [[1, 2], [1, 2, 3], [1, 5, 6]]


# Lesson 08


@oracle("8.2", atol=2e-5, rtol=1e-5)
def _(delta, d_model):
    return positions.shift_matrix(delta, d_model)


@oracle("8.3", atol=1e-5, rtol=1e-5)
def _(keys, old, new, base):
    for places, way in ((old, -1), (new, 1)):  # back to where they were not turned, then on
        angles = positions.rotary_angles(places, keys.shape[-1], base=base)
        keys = positions.apply_rope(keys, angles.cos(), way * angles.sin())
    return keys


@oracle("8.7", atol=1e-5, rtol=1e-5)
def _(query, key):
    angles = positions.rotary_angles(torch.arange(key.shape[2]), key.shape[3])  # (L_k, d_head / 2)
    turns = torch.polar(torch.ones_like(angles), angles)

    def turned(x):  # pairs of neighbors, as complex numbers
        pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * turns[-x.shape[2] :]).flatten(-2)

    return (turned(query) @ turned(key).mT / key.shape[3] ** 0.5).float()


@pytest.mark.parametrize("seed", [SEED, 1, 2, 3])
def test_8_1_is_the_nearest_row_of_the_librarys_table_and_by_a_margin(seed):
    for case, found in results("8.1", seed):
        table = positions.SinusoidalPositions(case["vectors"].shape[1], case["num_positions"]).table
        far, nearest = torch.cdist(case["vectors"], table).topk(2, largest=False)
        assert found.tolist() == nearest[:, 0].tolist()
        assert (far[:, 1] > 1.2 * far[:, 0]).all()


def test_8_5_gives_the_same_scores_in_code_that_pairs_neighbors():
    rng = torch.Generator().manual_seed(0)
    heads, d_head, places = 3, 6, torch.arange(5)
    x, W_q, W_k = (torch.randn(rows, 7, generator=rng) for rows in (5, heads * d_head, heads * d_head))
    angles = positions.rotary_angles(places, d_head)
    turns = torch.polar(torch.ones(5, d_head // 2), angles.float())

    def split(W):
        return (x @ W.T).view(5, heads, d_head).transpose(0, 1)  # (H, L, d_head)

    def neighbors(t):
        return torch.view_as_real(torch.view_as_complex(t.unflatten(-1, (-1, 2)).contiguous()) * turns).flatten(-2)

    q, k = (positions.apply_rope(split(W), angles.cos(), angles.sin()) for W in (W_q, W_k))
    q_new, k_new = (neighbors(split(right("8.5")(W, heads))) for W in (W_q, W_k))
    torch.testing.assert_close(q_new @ k_new.mT, q @ k.mT, rtol=1e-4, atol=1e-4)


def test_8_6_is_the_librarys_bias():
    for heads, L_q, L_k in ((4, 5, 7), (6, 3, 3)):
        expected = positions.alibi_bias(heads, L_q, L_k)[0]
        torch.testing.assert_close(right("8.6")(positions.alibi_slopes(heads), L_q, L_k), expected)


# Lesson 09


@pytest.mark.parametrize("d_out", [4, 6])
def test_9_1_a_folded_norm_gives_what_the_norm_and_the_layer_gave(d_out):
    norm, layer, bare = nn.LayerNorm(4), nn.Linear(4, d_out), nn.LayerNorm(4)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    W, c = right("9.1")(norm.weight, norm.bias, layer.weight, layer.bias)
    x = torch.randn(3, 4)
    torch.testing.assert_close(F.linear(bare(x), W, c), layer(norm(x)))


def test_9_2_the_new_layer_writes_the_old_vector_less_its_mean():
    layer, x = nn.Linear(5, 4), torch.randn(3, 5)
    written = layer(x)
    torch.testing.assert_close(
        F.linear(x, *right("9.2")(layer.weight, layer.bias)), written - written.mean(-1, keepdim=True)
    )


oracle("9.3")(lambda x, by_tanh: F.gelu(x, approximate="tanh" if by_tanh else "none"))


def copy_attention(ours, theirs):
    """PyTorch keeps the three projections of a multi-head attention as one matrix."""
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([p.weight for p in (ours.q_proj, ours.k_proj, ours.v_proj)]))
        theirs.in_proj_bias.copy_(torch.cat([p.bias for p in (ours.q_proj, ours.k_proj, ours.v_proj)]))
    theirs.out_proj.load_state_dict(ours.o_proj.state_dict())


def copy_rest(ours, theirs, norms):
    theirs.linear1.load_state_dict(ours.feed_forward.up_proj.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.down_proj.state_dict())
    for number in norms:
        nn.init.normal_(getattr(ours, f"norm_{number}").weight)
        getattr(theirs, f"norm{number}").load_state_dict(getattr(ours, f"norm_{number}").state_dict())


def test_9_4_contributions_add_up_to_the_logits_and_are_linear():
    parts, norm, W = torch.randn(3, 2, 4), nn.LayerNorm(4, eps=0.1), torch.randn(5, 4)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    written, rest = right("9.4")(parts, norm.weight, norm.bias, W, norm.eps)
    torch.testing.assert_close(written.sum(dim=0) + rest, norm(parts.sum(dim=0)) @ W.T)
    halves = torch.cat([parts[:1] / 2, parts[:1] / 2, parts[1:]])
    split, _ = right("9.4")(halves, norm.weight, norm.bias, W, norm.eps)
    torch.testing.assert_close(split[2:], written[1:])


def test_9_5_names_every_wiring_with_fresh_and_with_trained_norms():
    for scale in (0.0, 1.0):
        norm, second = nn.LayerNorm(6), nn.LayerNorm(6)
        for parameter in (*norm.parameters(), *second.parameters()):
            parameter.data += scale * torch.randn(6)
        kinds = {
            "no norm": lambda x, f: x + f(x),
            "pre-norm": lambda x, f, norm=norm: x + f(norm(x)),
            "post-norm": lambda x, f, norm=norm: norm(x + f(x)),
            "sandwich": lambda x, f, norm=norm, second=second: x + second(f(norm(x))),
            "lost path": lambda x, f, norm=norm: norm(x) + f(norm(x)),
        }
        assert [right("9.5")(connection, 6) for connection in kinds.values()] == list(kinds)


def test_9_6_is_pytorchs_decoder_layer():
    ours = right("9.6")(6, 2, 10, 0.0).eval()
    theirs = nn.TransformerDecoderLayer(6, 2, 10, dropout=0.0, batch_first=True, norm_first=True).eval()
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    copy_rest(ours, theirs, (1, 2, 3))
    x, memory, source = torch.randn(2, 3, 6), torch.randn(2, 4, 6), torch.tensor([[1, 2, 3, 0], [1, 2, 3, 4]])
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    expected = theirs(x, memory, tgt_mask=~causal, memory_key_padding_mask=source == 0)
    mask = masks.padding_mask(source, 0)
    torch.testing.assert_close(ours(x, [memory], causal[None, None], [mask]), expected)
    cut = memory.split([1, 3], dim=1), mask.split([1, 3], dim=-1)
    torch.testing.assert_close(ours(x, list(cut[0]), causal[None, None], list(cut[1])), expected)


def test_9_1_9_2_9_4_and_9_8_are_the_statements_examples():
    W = torch.tensor([[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]])
    new, bias = right("9.1")(torch.tensor([2.0, 1.0]), torch.tensor([1.0, 3.0]), W, torch.tensor([0.0, 10.0, 5.0]))
    assert new.tolist() == [[2, 2], [0, 1], [2, 0]] and bias.tolist() == [7, 13, 6]
    new, bias = right("9.2")(torch.tensor([[1.0, 2.0], [3.0, 0.0], [2.0, 7.0]]), torch.tensor([3.0, 0.0, 0.0]))
    assert new.tolist() == [[-1, -1], [1, -3], [0, 4]] and bias.tolist() == [2, -1, -1]
    parts, W = torch.tensor([[[3.0, 1.0]], [[-1.0, 3.0]]]), torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    written, rest = right("9.4")(parts, torch.ones(2), torch.tensor([0.0, 1.0]), W, 3.0)
    assert written.tolist() == [[[0.5, -1]], [[-1, 2]]] and rest.tolist() == [0, 2]
    streams, added = right("9.8")(torch.ones(1, 1, 2), [torch.neg, torch.exp])
    assert [s[0, 0, 0].item() for s in streams] == [1, 0, 1] and [s[0, 0, 1].item() for s in added] == [-1, 1]


@torch.no_grad()
@pytest.mark.parametrize("pre_norm", [True, False])
def test_9_10_only_a_norm_at_the_start_forgets_how_large_the_input_is(pre_norm):
    """What the quiz says."""
    torch.manual_seed(0)
    stack = [layers.EncoderLayer(8, 2, 16, pre_norm=pre_norm).eval() for _ in range(2)]
    x, outputs = torch.randn(1, 5, 8), []
    for stream in (x, 10 * x, F.layer_norm(x, (8,)), F.layer_norm(10 * x, (8,))):
        for layer in stack:
            stream = layer(stream)
        outputs.append(F.layer_norm(stream, (8,)))
    assert (outputs[0] - outputs[1]).abs().max() > 0.05
    torch.testing.assert_close(outputs[2], outputs[3], atol=1e-3, rtol=0)


# Lesson 10


@oracle("10.1")
def _(source, target, pad_id):
    own = masks.combine_masks(masks.padding_mask(target, pad_id), masks.causal_mask(target.shape[1]))
    return masks.padding_mask(source, pad_id), own


@oracle("10.3")
def _(logits, labels, smoothing, pad_id):
    V, kept = logits.shape[-1], labels != pad_id
    shares = torch.full((V,), smoothing / (V - 2), dtype=logits.dtype)
    shares[pad_id] = 0.0
    rows = torch.stack([shares.index_fill(0, label, 1.0 - smoothing) for label in labels[kept]])
    return F.cross_entropy(logits[kept], rows)


@pytest.mark.parametrize("index", range(1, 6))
def test_10_2_is_what_reaches_a_tied_matrix(index):
    case = find("10.2").cases(SEED)[index]
    V, d_model = case["at_logits"].shape[-1], case["hidden"].shape[-1]
    tied = torch.randn(V, d_model, generator=torch.Generator().manual_seed(1)).to(case["hidden"]).requires_grad_()
    vectors, logits = d_model**0.5 * F.embedding(case["ids"], tied), F.linear(case["hidden"], tied)
    (wanted,) = torch.autograd.grad((vectors, logits), tied, (case["at_vectors"], case["at_logits"]))
    torch.testing.assert_close(right("10.2")(*case.values()), wanted)


@pytest.mark.parametrize("index", range(5))
def test_10_4_is_the_gradient_of_the_whole_batch(index):
    case = find("10.4").cases(SEED)[index]
    loss, updated, back = drive_pieces(right("10.4"), case)
    learned = case.driver["tables"]["learned"].clone().requires_grad_()
    functions, _ = in_turn(case, learned, [])
    logits = [functions["model"](source, target[:, :-1]).flatten(0, 1) for source, target in case["pieces"]]
    labels = [target[:, 1:].flatten() for _, target in case["pieces"]]
    whole = F.cross_entropy(torch.cat(logits), torch.cat(labels), ignore_index=case["pad_id"])
    whole.backward()
    assert loss == pytest.approx(whole.item()) and back == list(range(len(case["pieces"])))
    torch.testing.assert_close(updated, learned.detach() - learned.grad)
    if not index:  # the statement's example
        assert loss == pytest.approx(0.8664, abs=1e-4)


@pytest.mark.parametrize("index", range(3))
def test_10_5_is_the_librarys_model_with_the_memories_end_to_end(index):
    case = find("10.5").cases(SEED)[index]
    sizes = {name: case[name] for name in SIZES}
    ours = right("10.5")(**sizes)
    theirs = Transformer(TransformerConfig(**sizes, dropout=0.0, pad_id=case["pad_id"]))
    for model in (ours, theirs):
        settle(model, SEED)
    sources, target, pad_id = case["sources"], case["target"], case["pad_id"]
    for source in sources.unbind(1):  # one source alone
        torch.testing.assert_close(ours(source[:, None], target, pad_id), theirs(source, target))
    memory = torch.cat([theirs.encode(source) for source in sources.unbind(1)], dim=1)
    hidden = theirs.decode(target, memory, memory_mask=(sources != pad_id).flatten(1)[:, None, None])
    torch.testing.assert_close(ours(sources, target, pad_id), theirs.generator(hidden))
    torch.testing.assert_close(ours(sources.flip(1), target, pad_id), theirs.generator(hidden))
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in theirs.parameters())


def test_10_6_by_hand():
    """A model that says the symbol after the last: 5 6 7 end, and from 6 on 7 end."""

    def counts_up(source, target):
        following = torch.where(target == 1, source[:, :1], target + 1) % 8
        return F.one_hot(following, 9).float()

    tokens = right("10.6")(counts_up, torch.tensor([[5], [6]]), 6, 1, 0, 8)
    assert tokens.tolist() == [[5, 6, 7, 0], [6, 7, 0, 8]]
    assert right("10.6")(counts_up, torch.tensor([[5], [6]]), 2, 1, 0, 8).tolist() == [[5, 6], [6, 7]]


def test_10_7_sees_no_label_and_the_broken_one_does():
    """The loss of an echo of the latest symbol in sight: 0 if that is the label, high if it is not."""

    def echo(source, decoder_input, source_mask, target_mask):
        latest = (target_mask[:, 0] * torch.arange(decoder_input.shape[1])).amax(-1)
        return 20.0 * F.one_hot(decoder_input.gather(1, latest), 9).float()

    target = torch.tensor([[1, 5, 3, 7, 7], [1, 4, 6, 8, 8]])  # the last label repeats the last input
    source, solution = torch.tensor([[3, 4, 5], [5, 6, 7]]), find("10.7").solution
    broken = solution.answer(solution.text.replace(".tril()", ".tril(diagonal=1)"))
    assert broken(echo, source, target, 0) < 0.01
    assert right("10.7")(echo, source, target, 0) > 10


def test_10_8_is_the_librarys_model_one_candidate_at_a_time():
    torch.manual_seed(0)
    sizes = {"num_layers": 1, "d_model": 8, "d_ff": 16, "num_heads": 2}
    model = Transformer(TransformerConfig(9, 9, **sizes, dropout=0.0)).eval()

    def decode(ids, memory):
        return model.generator(model.decode(ids, memory, memory_mask=None))

    source, candidates = torch.tensor([[4, 5, 6]]), torch.tensor([[1, 7, 2, 0, 0], [1, 4, 4, 8, 2]])
    with torch.no_grad():
        scores = right("10.8")(model.encode, decode, source, candidates, 0)
        for score, row in zip(scores, ([1, 7, 2], [1, 4, 4, 8, 2]), strict=True):
            row = torch.tensor([row])
            expected = -F.cross_entropy(model(source, row[:, :-1])[0], row[0, 1:], reduction="sum")
            torch.testing.assert_close(score, expected)


# Lesson 11


def test_11_1_makes_the_batches_of_the_task():
    batches = right("11.1")([(2, 3), (9, 9), (2, 2)], 20, 0)
    assert sorted(sorted(batch) for batch in batches) == [[0, 2], [1]]


def test_11_2_finds_the_sequences_of_the_task():
    table = {(): [0.6, 0.4, 1e-9], (0,): [0.3, 0.3, 0.4], (1,): [0.05, 0.05, 0.9]}

    def step(prefix):
        return torch.tensor(table[tuple(prefix)], dtype=torch.float64).log()

    for num_beams, best, probability in ((1, [0, 2], 0.24), (2, [1, 2], 0.36)):
        sequences, scores = right("11.2")(step, num_beams, 2, 2, 0.0)
        assert sequences[0] == best and math.isclose(math.exp(scores[0]), probability)


def test_11_2_does_not_stop_while_a_better_one_grows():
    table = {(): [0.55, 0.2, 0.25], (0,): [0.05, 0.9, 0.05], (1,): [0.05, 0.05, 0.9], (0, 1): [0.05, 0.05, 0.9]}
    asked = []

    def step(prefix):
        asked.append(prefix)
        return torch.tensor(table.get(tuple(prefix), [0.3, 0.3, 0.4]), dtype=torch.float64).log()

    sequences, scores = right("11.2")(step, 2, 6, 2, 0.0)
    assert sequences == [[0, 1, 2], [2]] and len(asked) == 5  # and no further than the third step
    assert [math.exp(score) for score in scores] == pytest.approx([0.4455, 0.25])


def test_11_4_is_the_best_of_all_ways_that_do_not_go_back():
    torch.manual_seed(0)
    for sounds, letters in ((1, 4), (3, 2), (4, 5)):
        weights = torch.randn(2, 3, sounds + 1, letters).softmax(-1)
        mean = weights.mean(dim=(0, 1))
        ways = itertools.combinations_with_replacement(range(letters), sounds)
        best = max(ways, key=lambda way, mean=mean: sum(mean[i, j].item() for i, j in enumerate(way)))
        assert right("11.4")(weights).tolist() == list(best)


def test_11_6_by_hand():
    def one_too_high(word, prefix):
        following = {1: 4, 7: 2}.get(prefix[-1], prefix[-1] + 1)
        return F.one_hot(torch.tensor(following), 9).float()

    assert right("11.6")(one_too_high, [[3, 4, 5, 6]], 1, 2, 9) == (0.5, [[4, 5, 6, 7]])
    assert right("11.6")(one_too_high, [[4]], 1, 2, 2) == (1.0, [[4, 5]])


# Lesson 12

oracle("12.8")(seen_before)


@oracle("12.1", rtol=1e-5, atol=1e-5)
def _(a, b, x):
    return (x @ a) * (x @ b)


@oracle("12.4")
def _(logits, temperature, top_k, top_p):
    return decoding.sampling_distribution(logits, temperature=temperature, top_k=top_k, top_p=top_p)


@oracle("12.5", rtol=1e-6, atol=0)
def _(batches, pad_id):
    logits = torch.cat([z.flatten(0, 1) for z, _ in batches]).double()
    labels = torch.cat([y.flatten() for _, y in batches])
    return F.cross_entropy(logits, labels, ignore_index=pad_id).exp().item()


def test_12_2_is_the_librarys_layer():
    torch.manual_seed(0)
    block = right("12.2")(16, 4, 2, 24)
    layer = layers.DecoderOnlyLayer(16, 4, 24, num_kv_heads=2, rotary=positions.RotaryPositions(4))
    names = {"norm_1": "attention_norm", "norm_2": "feed_forward_norm"}
    state = {}
    for name, tensor in block.state_dict().items():
        part, _, rest = name.partition(".")
        state[f"{names.get(part, part)}.{rest}"] = tensor
    layer.load_state_dict(state)
    x = torch.randn(2, 5, 16)
    torch.testing.assert_close(block(x), layer(x, masks.causal_mask(5)))


@pytest.mark.parametrize("seed", [SEED, 1, 2])
def test_12_3_generates_what_the_library_does(seed):
    for case, (tokens, shapes, with_cache) in results("12.3", seed):
        new = case["max_new_tokens"]
        expected = decoding.generate(small_model(case), case["prompt"], max_new_tokens=new, temperature=0)
        assert torch.equal(tokens, expected) and len(shapes) == new and all(with_cache)


def test_12_6_pieces_give_what_the_whole_sequence_gives():
    for case, (outputs, keys, values) in results("12.6"):
        cos, sin, L = case["cos"], case["sin"], case["query"].shape[2]
        query, key = (positions.apply_rope(case[name], cos[:L], sin[:L]) for name in ("query", "key"))
        expected = F.scaled_dot_product_attention(query, key, case["value"], attn_mask=masks.causal_mask(L, L))
        torch.testing.assert_close(torch.cat(outputs, dim=2), expected)
        torch.testing.assert_close(keys, key)
        assert torch.equal(values, case["value"])


class Rising(nn.Module):
    """Takes 1 bit for the first character of a window, 2 for the second and so on, whatever they are."""

    def forward(self, tokens):
        log_right = -torch.arange(1.0, tokens.shape[1] + 1) * math.log(2)  # of symbol 0
        return torch.stack([log_right, (1 - log_right.exp()).log()], dim=-1).expand(*tokens.shape, 2)


def test_12_7_is_the_statements_example_and_the_librarys_where_nothing_is_left_over():
    assert right("12.7")(Rising(), torch.zeros(8, dtype=torch.long), 4, 2) == pytest.approx(20 / 7)
    torch.manual_seed(0)
    model = DecoderLM(DecoderConfig(9, num_layers=1, d_model=8, d_ff=8, num_heads=2)).requires_grad_(False)
    ids = torch.randint(9, (1 + 12 + 5 * 4,))
    expected = text_scores(model, ids, length=12, stride=4)["bits"]
    assert right("12.7")(model, ids, 12, 4) == pytest.approx(expected, rel=1e-5)


# All lessons


@pytest.mark.parametrize("number", ORACLES)
def test_the_solution_gives_what_the_oracle_gives(number):
    expected, tolerances = ORACLES[number]
    for case, result in results(number):
        torch.testing.assert_close(result, expected(*case.values()), **tolerances)


def centered(y):
    return y - y.mean(-1, keepdim=True)


KEY, ONE = torch.tensor([[[1.0986, 0, 0, 0], [0, 1.0, 0, 0]]]), torch.ones(1, 1)
BLOCKS = [(torch.tensor([[[0.0], [1.0986]]]), torch.tensor([[[4.0], [8.0]]]))]
BLOCKS += [(torch.tensor([[[2.4849]]]), torch.tensor([[[16.0]]]))]
ENCODED, MASK = torch.tensor([[[9.0, 9.0], [0.0, 4.0], [1.0, 0.0]]]), torch.tensor([[False, True, True]])
LOOKED, FILTER = torch.tensor([[0.0, 1.0, 0.0, 0.0]]), torch.tensor([[1.0, 0.0, 0.0]])
EIGHTHS = (torch.tensor([1, 1, 4, 1, 1]) / 8).log()
HALF, TIE = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log(), torch.tensor([[0.1, 0.4, 0.1, 0.4]]).log()
ROWS = [[-1.0, -3.0, -9.0], [-0.5, -1.0, -9.0], [-4.0, -1.5, -0.5], [-1.0, -9.0, -9.0]]
BATCHES = [(torch.tensor([[[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]]).log(), torch.tensor([[0, 1]]))]
ACCEPTED = torch.tensor([[[1, 3, 2, 0], [1, 4, 3, 2]], [[1, 4, 2, 0], [0, 0, 0, 0]]])
EXAMPLES = [  # of the statements: number, arguments, what is said to come out
    ("3.1", (ONE, ENCODED, ONE, FILTER[:, :2], torch.tensor([2.0]), MASK), ([[0.5999, 1.6006]], [[0, 0.4001, 0.5999]])),
    (
        "3.2",
        (ONE, torch.ones(1, 4, 1), LOOKED, FILTER, 0 * ONE, 0 * ONE, ONE, torch.tensor([3.0]), torch.ones(1, 4) > 0),
        [[0.078, 0.078, 0.766, 0.078]],
    ),
    (
        "3.3",
        (lambda source, prefix: EIGHTHS.expand(*prefix.shape, 5), torch.zeros(2, 1), ACCEPTED, 0),
        (math.log(128 / 9) + math.log(16)) / 2,
    ),
    ("4.1", (torch.tensor([[[2.0, 0, 0, 0]]]), KEY, torch.tensor([[[8.0], [4.0]]])), ([[[7.0]]], [[[0.75, 0.25]]])),
    ("4.5", (ONE[None], iter(BLOCKS)), [[[13.75]]]),
    ("7.1", (500, 4, 3, 6, 1, 4, 1, 2, 4), 13),
    ("7.1", (200, 4, 3, 6, 1, 4, 1, 2, 4), 3),
    ("7.5", (torch.tensor([[1.0], [3.0], [10.0], [20.0]]), 4, 2), [[2.0], [15.0]]),
    ("8.5", (torch.arange(6.0), 1), [0.0, 3, 1, 4, 2, 5]),
    ("8.6", (torch.tensor([0.5]), 2, 3), [[[-0.5, 0.0, -0.5], [-1.0, -0.5, 0.0]]]),
    (
        "9.7",
        (torch.tensor([[[0.0, 1, 5]]]), torch.relu, torch.square, [centered] * 4, "sandwich"),
        [[[-4.667, -8.667, 19.333]]],
    ),
    ("9.7", (torch.tensor([[[0.0, 1, 5]]]), torch.relu, torch.square, [centered], "parallel"), [[[4.0, 2.0, 17.0]]]),
    ("10.3", (torch.tensor([[[0, 0, 0, math.log(5)], [9, 0, 0, 0]]]), torch.tensor([[3, 0]]), 0.2, 0), 0.7919),
    (
        "10.2",
        (
            torch.tensor([[1, 1]]),
            torch.tensor([[[1.0, 0, 0, 0], [0, 2, 0, 0]]]),
            torch.tensor([[[1.0, 0, 0, 0], [0, 0, 1, 0]]]),
            torch.tensor([[[0.5, 0, -0.5], [0, 1, 0]]]),
        ),
        [[0.5, 0, 0, 0], [2, 4, 1, 0], [-0.5, 0, 0, 0]],
    ),
    (
        "10.8",
        (
            lambda source: torch.zeros(1, 2, 3),
            lambda ids, memory: torch.zeros(*ids.shape, 4),
            *(None, torch.tensor([[1, 3, 2, 0], [1, 3, 3, 2]]), 0),
        ),
        [-2 * math.log(4), -3 * math.log(4)],
    ),
    (
        "11.3",
        (torch.tensor([[-1.0, -2.0], [-1.0, -3.0]]), torch.tensor(ROWS)),
        ([[-2.0, -2.5], [-1.5, -2.5]], [[0, 0], [2, 1]], [0, 1, 2, 2]),
    ),
    ("11.4", (torch.tensor([[[[0.3, 0.25, 0.45], [0.6, 0.2, 0.2], [0.1, 0.7, 0.2], [0, 0, 1]]]]),), [0, 0, 1]),
    ("12.4", (HALF, 1.0, None, 0.6), [[0.625, 0.375, 0.0, 0.0]]),
    ("12.4", (TIE, 1.0, 3, None), [[1 / 9, 4 / 9, 0.0, 4 / 9]]),
    ("12.5", (BATCHES, 2), math.sqrt(8)),
    ("12.8", ("abcdef", "xbcdxcdefx", 3), [False, True, True, True, False, True, True, True, True, False]),
]


@pytest.mark.parametrize(("number", "arguments", "expected"), EXAMPLES, ids=[number for number, *_ in EXAMPLES])
def test_the_statements_examples(number, arguments, expected):
    result = right(number)(*arguments)
    for part, numbers in zip(result, expected, strict=True) if isinstance(result, tuple) else [(result, expected)]:
        torch.testing.assert_close(torch.as_tensor(part), torch.tensor(numbers), atol=1e-3, rtol=0)


def test_the_matrices_of_4_3s_statement_make_its_weights():
    call, case = find("4.3").call, cases_of(find("4.3"), SEED)[0]
    case["x"], case["wanted"] = torch.tensor([[1.0, 1], [0, 2]]), torch.tensor([[0.75, 0.25], [0.5, 0.5]])
    W_q, W_k = torch.tensor([[1.0986], [0.0]]), torch.tensor([[1.0], [0.0]])
    torch.testing.assert_close(call.on(lambda x, wanted: (W_q, W_k), case), case["wanted"], atol=1e-4, rtol=0)
    wide = [F.pad(W, (0, 3)) for W in (W_q, W_k)]
    assert call.on(lambda x, wanted: wide, case)[0].tolist() == pytest.approx([0.634, 0.366], abs=1e-3)
