"""Lesson 00, start here: what is right, what is wrong, and how it is told."""

import itertools

import torch
import torch.nn.functional as F
from torch import nn

from .exercise import Alternative, Exercise, Mistake, Option, Quiz
from .probes.guard import MATRIX_PRODUCTS

# 0.1 ------------------------------------------------------------------------------------------------------------------


def _shares_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [{"x": torch.tensor([[1.0, 3.0]])}]
    for rows, columns in ((5, 3), (2, 6), (4, 4)):
        cases.append({"x": 0.1 + 5.0 * torch.rand(rows, columns, generator=rng)})
    return cases


SHARES = Exercise(
    number="0.1",
    title="Shares of a row",
    points=2,
    inputs=_shares_inputs,
    reference=lambda x: x / x.sum(dim=-1, keepdim=True),
    returns=("shares",),
    off_limits=("torch.nn.functional.normalize",),
    alternatives=(
        Alternative("axis put back with None", lambda x: x / x.sum(1)[:, None]),
        Alternative("unsqueeze", lambda x: x / x.sum(-1).unsqueeze(-1)),
        Alternative("loop", lambda x: torch.stack([row / row.sum() for row in x])),
        Alternative("transposed twice", lambda x: (x.T / x.sum(1)).T),
        Alternative("einsum", lambda x: torch.einsum("id,i->id", x, 1 / torch.einsum("id->i", x))),
        Alternative("PyTorch's own", lambda x: F.normalize(x, p=1, dim=-1), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "divided by everything",
            lambda x: x / x.sum(),
            "each number divided by the sum of the whole tensor, not of its own row.",
            "sum over the last dimension only: x.sum(dim=-1, ...).",
        ),
        Mistake(
            "shares of the columns",
            lambda x: x / x.sum(dim=0),
            "the shares of each column: your columns sum to 1, your rows should.",
            "dim=0 sums down a column; a row is summed with dim=-1.",
        ),
        Mistake(
            "axis lost",
            lambda x: x / x.sum(dim=-1),
            "a division by sums of shape (n,) or (1, n): they line up with the columns, so it stops, or runs and is "
            "wrong where n = m.",
            "keep the summed axis with size 1: keepdim=True gives sums of shape (n, 1).",
        ),
        Mistake(
            "mean",
            lambda x: x / x.mean(dim=-1, keepdim=True),
            "each number divided by the mean of its row: the rows sum to m, the number of columns.",
            "divide by the sum.",
        ),
        Mistake(
            "maximum",
            lambda x: x / x.amax(dim=-1, keepdim=True),
            "each number divided by the largest of its row.",
            "divide by the sum of the row; then the row sums to 1.",
        ),
        Mistake(
            "length",
            lambda x: x / x.norm(dim=-1, keepdim=True),
            "each row divided by its length, the root of the sum of squares.",
            "divide by the sum of the numbers themselves.",
        ),
        Mistake(
            "softmax",
            lambda x: x.softmax(dim=-1),
            "a softmax: its rows sum to 1 too, but it takes exponentials first.",
            "[1, 3] has the shares 1/4 and 3/4: divide the numbers as they are.",
        ),
        Mistake(
            "percent",
            lambda x: 100 * x / x.sum(dim=-1, keepdim=True),
            "the shares in percent: your rows sum to 100.",
            "leave the factor 100 out.",
        ),
        Mistake(
            "sums returned",
            lambda x: x.sum(dim=-1, keepdim=True),
            "the sum of each row; the division is still missing.",
            "divide x by these sums.",
        ),
        Mistake(
            "in place",
            lambda x: x.div_(x.sum(dim=-1, keepdim=True)),
            "the right shares, but written into x itself (x /= ... or div_): whoever handed x over has lost it.",
            "write x / ..., which makes a new tensor.",
        ),
    ),
    advice="print x.shape and the shape of your sums: for x of shape (n, m) the sums need shape (n, 1).",
)

# 0.2 ------------------------------------------------------------------------------------------------------------------


def _pad_inputs(seed):
    rng = torch.Generator().manual_seed(seed)

    def ids(lengths, low, high):
        return [torch.randint(low, high, (length,), generator=rng).tolist() for length in lengths]

    return [
        {"sequences": [[5, 3], [7]], "pad_id": 0},
        {"sequences": ids((3, 5, 2, 4), 1, 20), "pad_id": 0},
        {"sequences": [[0, 4], *ids((1, 6), 0, 9)], "pad_id": 9},  # 0 is an ordinary token here
        {"sequences": ids((4, 4), 2, 30), "pad_id": 1},
        {"sequences": ids((3,), 2, 30), "pad_id": 1},
    ]


def _pad(sequences, pad_id, length=None, **options):
    length = max(map(len, sequences)) if length is None else length
    return torch.tensor([list(s)[:length] + [pad_id] * (length - len(s)) for s in sequences], **options)


def _pad_fill(sequences, pad_id):
    out = torch.full((len(sequences), max(map(len, sequences))), pad_id)
    for row, ids in zip(out, sequences, strict=True):
        row[: len(ids)] = torch.tensor(ids)
    return out


def _pad_one_by_one(sequences, pad_id):
    length = max(len(ids) for ids in sequences)
    rows = []
    for ids in sequences:
        rows.append(F.pad(torch.tensor(ids), (0, length - len(ids)), value=pad_id))
    return torch.stack(rows)


def _pad_in_place(sequences, pad_id):
    length = max(map(len, sequences))
    for ids in sequences:
        ids.extend([pad_id] * (length - len(ids)))
    return torch.tensor(sequences)


def _pad_left(sequences, pad_id):
    length = max(map(len, sequences))
    return torch.tensor([[pad_id] * (length - len(ids)) + ids for ids in sequences])


def _pad_repeat(sequences, pad_id):
    length = max(map(len, sequences))
    return torch.tensor([ids + ids[-1:] * (length - len(ids)) for ids in sequences])


PAD = Exercise(
    number="0.2",
    title="Pad a batch",
    points=2,
    inputs=_pad_inputs,
    reference=_pad,
    returns=("ids",),
    off_limits=("torch.nn.utils.rnn.pad_sequence", "torch._C._nn.pad_sequence"),
    alternatives=(
        Alternative("filled tensor", _pad_fill),
        Alternative("F.pad, then stack", _pad_one_by_one),
        Alternative(
            "zip_longest",
            lambda sequences, pad_id: torch.tensor(list(itertools.zip_longest(*sequences, fillvalue=pad_id))).T,
        ),
        Alternative(
            "PyTorch's own",
            lambda sequences, pad_id: nn.utils.rnn.pad_sequence(
                [torch.tensor(ids) for ids in sequences], batch_first=True, padding_value=pad_id
            ),
            off_limits=True,
        ),
    ),
    mistakes=(
        Mistake(
            "padded on the left",
            _pad_left,
            "the padding stands in front of the ids; here it belongs behind them.",
            "put the pad ids after each sequence: ids + [pad_id] * missing.",
        ),
        Mistake(
            "pad id of one's own",
            lambda sequences, pad_id: _pad(sequences, 0),
            "padding with 0, whatever pad_id says. In one of the cases 0 is an ordinary token.",
            "use the argument pad_id.",
        ),
        Mistake(
            "zeros replaced",
            lambda sequences, pad_id: _pad(sequences, 0).masked_fill(_pad(sequences, 0) == 0, pad_id),
            "padding with 0 first, then pad_id in the place of every 0, which also changes tokens whose id is 0.",
            "fill with pad_id from the start.",
        ),
        Mistake(
            "cut to the shortest",
            lambda sequences, pad_id: _pad(sequences, pad_id, min(map(len, sequences))),
            "every sequence cut to the length of the shortest: tokens are lost.",
            "take the longest length, max, and fill the shorter ones up.",
        ),
        Mistake(
            "length of the first",
            lambda sequences, pad_id: torch.tensor(
                [ids + [pad_id] * (len(sequences[0]) - len(ids)) for ids in sequences]
            ),
            "every sequence filled up to the length of the first one, which need not be the longest.",
            "take the maximum over all lengths.",
        ),
        Mistake(
            "cut or filled to the first",
            lambda sequences, pad_id: _pad(sequences, pad_id, len(sequences[0])),
            "every sequence brought to the length of the first one, which need not be the longest.",
            "take the maximum over all lengths.",
        ),
        Mistake(
            "not padded",
            lambda sequences, pad_id: torch.tensor(sequences),
            "the ragged lists handed straight to torch.tensor: a tensor has no rows of unequal length.",
            "fill every list up to the longest length first.",
        ),
        Mistake(
            "one too long",
            lambda sequences, pad_id: _pad(sequences, pad_id, max(map(len, sequences)) + 1),
            "one pad id too many at the end of every row, the longest included.",
            "the longest sequence needs no padding: L is its length.",
        ),
        Mistake(
            "last id repeated",
            _pad_repeat,
            "the last id of each sequence repeated, as if the sentence went on.",
            "fill up with pad_id, so that padding can be told from text.",
        ),
        Mistake(
            "floats",
            lambda sequences, pad_id: _pad(sequences, pad_id, dtype=torch.float32),
            "floating-point ids: torch.zeros and torch.full with a float make those. They cannot index a table.",
            "ask for whole numbers: dtype=torch.long.",
        ),
        Mistake(
            "list of lists",
            lambda sequences, pad_id: _pad(sequences, pad_id).tolist(),
            "the right ids as a list of lists; asked for is a tensor.",
            "wrap them in torch.tensor(...).",
        ),
        Mistake(
            "position first",
            lambda sequences, pad_id: _pad(sequences, pad_id).T,
            "a column for each sequence, shape (L, B); asked for is a row for each, shape (B, L).",
            "swap the two axes.",
        ),
        Mistake(
            "in place",
            _pad_in_place,
            "the right tensor, but the lists handed to you grew as well: append, extend and += change the list itself.",
            "build new lists: ids + [...] makes one.",
        ),
    ),
    advice="print the lengths of the sequences and their maximum; each row needs maximum minus its own length pads.",
)

# 0.3 ------------------------------------------------------------------------------------------------------------------


def _shift_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [{"ids": torch.tensor([[5, 7, 2]])}]
    for batch, length in ((2, 5), (4, 3), (3, 8), (4, 4)):
        cases.append({"ids": torch.randint(0, 1000, (batch, length), generator=rng)})
    return cases


def _shift_loop(ids):
    inputs, targets = [], []
    for row in ids.tolist():
        inputs.append([row[i] for i in range(len(row) - 1)])
        targets.append([row[i + 1] for i in range(len(row) - 1)])
    return torch.tensor(inputs), torch.tensor(targets)


SHIFT = Exercise(
    number="0.3",
    title="Inputs and targets",
    points=2,
    inputs=_shift_inputs,
    reference=lambda ids: (ids[:, :-1], ids[:, 1:]),
    returns=("inputs", "targets"),
    alternatives=(
        Alternative("loop", _shift_loop),
        Alternative("ellipsis", lambda ids: [ids[..., :-1], ids[..., 1:]]),
        Alternative("narrow", lambda ids: (ids.narrow(1, 0, ids.shape[1] - 1), ids.narrow(1, 1, ids.shape[1] - 1))),
        Alternative("roll, last column cut", lambda ids: (ids[:, :-1], ids.roll(-1, 1)[:, :-1])),
        Alternative("windows", lambda ids: tuple(ids.unfold(1, 2, 1).unbind(-1))),
    ),
    mistakes=(
        Mistake(
            "not shifted",
            lambda ids: (ids[:, :-1], ids[:, :-1]),
            "targets equal to the inputs: a model learns to copy, and its loss goes to zero.",
            "the target at position i is the token at position i + 1.",
        ),
        Mistake(
            "not shifted, nothing cut",
            lambda ids: (ids, ids),
            "inputs and targets both equal to ids: a model learns to copy, and its loss goes to zero.",
            "the target at position i is the token at position i + 1.",
        ),
        Mistake(
            "shifted backwards",
            lambda ids: (ids[:, 1:], ids[:, :-1]),
            "inputs and targets exchanged: each target is the token before its input.",
            "inputs lack the last token, targets lack the first.",
        ),
        Mistake(
            "rolled around",
            lambda ids: (ids, ids.roll(-1, 1)),
            "a shift with wrap-around: the last target is the first token of the same sequence.",
            "the last token has no next one: leave it out of the inputs.",
        ),
        Mistake(
            "rolled the other way",
            lambda ids: (ids, ids.roll(1, 1)),
            "a shift with wrap-around in the wrong direction: each target is the token before its input.",
            "cut instead of rolling: drop the last column of one, the first of the other.",
        ),
        Mistake(
            "shifted over the batch",
            lambda ids: (ids[:-1], ids[1:]),
            "a shift over the batch: the target of a sentence is the next sentence.",
            "slice the second axis, the positions: ids[:, ...].",
        ),
        Mistake(
            "shifted by two",
            lambda ids: (ids[:, :-2], ids[:, 2:]),
            "a shift by two: each target is the token after the next.",
            "shift by one.",
        ),
        Mistake(
            "inputs not cut",
            lambda ids: (ids, ids[:, 1:]),
            "the right targets, but one input too many: the last token has no target.",
            "drop the last column of the inputs.",
        ),
        Mistake(
            "only the last token",
            lambda ids: (ids[:, :-1], ids[:, -1]),
            "one target a sentence, its last token; a language model predicts at every position.",
            "keep all tokens but the first as targets.",
        ),
        Mistake(
            "targets only",
            lambda ids: ids[:, 1:],
            "the targets alone.",
            "return both, inputs first: return inputs, targets.",
        ),
    ),
    advice="write the ids of one sentence on a line, and under each token the one that follows it.",
)

# 0.4 ------------------------------------------------------------------------------------------------------------------


def _embed_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [{"table": torch.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]), "ids": torch.tensor([[2, 0]])}]
    for rows, size, batch, length in ((7, 3, 2, 5), (4, 6, 3, 2), (9, 5, 4, 6)):
        ids = torch.randint(0, rows, (batch, length), generator=rng)
        ids[0, 0], ids[-1, -1] = rows - 1, 0  # first and last row of the table are both used
        cases.append({"table": torch.randn(rows, size, generator=rng), "ids": ids})
    return cases


def _embed_loop(table, ids):
    out = torch.zeros(*ids.shape, table.shape[1])
    for b in range(ids.shape[0]):
        for i in range(ids.shape[1]):
            out[b, i] = table[ids[b, i]]
    return out


EMBED = Exercise(
    number="0.4",
    title="Embed a batch",
    points=2,
    inputs=_embed_inputs,
    reference=lambda table, ids: table[ids],
    returns=("vectors",),
    off_limits=("torch.nn.functional.embedding", "torch.embedding"),
    alternatives=(
        Alternative("two loops", _embed_loop),
        Alternative("one-hot times table", lambda table, ids: F.one_hot(ids, len(table)).float() @ table),
        Alternative(
            "index_select, then view", lambda table, ids: table.index_select(0, ids.reshape(-1)).view(*ids.shape, -1)
        ),
        Alternative("sentence by sentence", lambda table, ids: torch.stack([table[row] for row in ids])),
        Alternative("F.embedding", lambda table, ids: F.embedding(ids, table), off_limits=True),
        Alternative("nn.Embedding", lambda table, ids: nn.Embedding.from_pretrained(table)(ids), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "columns taken",
            lambda table, ids: table[:, ids],
            "columns of the table: the colon in front keeps all rows and applies the ids to the columns.",
            "the ids are row numbers; they belong first in the brackets.",
        ),
        Mistake(
            "table transposed",
            lambda table, ids: table.T[ids],
            "rows of the transposed table, which has a row for each feature and not for each token.",
            "leave the table as it is: one row a token.",
        ),
        Mistake(
            "flattened",
            lambda table, ids: table[ids.flatten()],
            "all vectors in one long list, shape (B * L, d): the sentences can no longer be told apart.",
            "index with ids of shape (B, L), or give the result its three axes back.",
        ),
        Mistake(
            "counted from 1",
            lambda table, ids: table[ids - 1],
            "the row before the right one; and id 0 becomes -1, which silently means the last row.",
            "ids count from 0, and so do the rows.",
        ),
        Mistake(
            "position first",
            lambda table, ids: table[ids.T],
            "shape (L, B, d), positions first; the course puts the batch first.",
            "do not transpose the ids.",
        ),
        Mistake(
            "features before positions",
            lambda table, ids: table[ids].transpose(1, 2),
            "shape (B, d, L): features and positions are exchanged.",
            "the vector of a token lies along the last axis.",
        ),
        Mistake(
            "reshaped",
            lambda table, ids: table[ids].reshape(ids.shape[0], table.shape[1], ids.shape[1]),
            "shape (B, d, L), and by a reshape, so that the vectors are cut up and mixed as well.",
            "nothing needs to be reshaped after the lookup.",
        ),
        Mistake(
            "first sentence only",
            lambda table, ids: table[ids[0]],
            "the vectors of the first sentence only.",
            "index with all of ids.",
        ),
        Mistake(
            "added over the positions",
            lambda table, ids: table[ids].sum(dim=1),
            "one vector a sentence, the sum over its tokens: their order is lost.",
            "keep one vector for each position.",
        ),
        Mistake(
            "averaged over the positions",
            lambda table, ids: table[ids].mean(dim=1),
            "one vector a sentence, the mean over its tokens: their order is lost.",
            "keep one vector for each position.",
        ),
        Mistake(
            "one-hot only",
            lambda table, ids: F.one_hot(ids, len(table)),
            "one-hot vectors: a 1 at the place of the id. They still have to pick a row of the table.",
            "multiply them by the table, or index the table directly.",
        ),
        Mistake(
            "scaled",
            lambda table, ids: table[ids] * table.shape[1] ** 0.5,
            "the vectors times sqrt(d). That comes in lesson 09; asked for is the plain lookup.",
            "leave the factor out.",
        ),
    ),
    advice="do it for one token first: the vector of ids[0, 0] is row ids[0, 0] of the table.",
)

# 0.5 ------------------------------------------------------------------------------------------------------------------


def _pairs_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [{"x": torch.tensor([[1.0, 2.0]]), "y": torch.tensor([[3.0, 4.0], [5.0, 7.0]])}]
    for rows_x, rows_y, size in ((5, 7, 3), (4, 2, 6), (4, 4, 4)):
        x = torch.randn(rows_x, size, generator=rng)
        cases.append({"x": x, "y": torch.randn(rows_y, size, generator=rng)})
    return cases


def _pairs_loop(x, y):
    out = torch.zeros(len(x), len(y))
    for i in range(len(x)):
        for j in range(len(y)):
            out[i, j] = (x[i] * y[j]).sum()
    return out


PAIRS = Exercise(
    number="0.5",
    title="All pairs by einsum",
    points=2,
    inputs=_pairs_inputs,
    reference=lambda x, y: torch.einsum("id,jd->ij", x, y),
    returns=("products",),
    off_limits=(*MATRIX_PRODUCTS, "course_utils.similarity.similarity_matrix"),
    alternatives=(
        Alternative("other letters", lambda x, y: torch.einsum("qe,ke->qk", x, y)),
        Alternative("loop", _pairs_loop),
        Alternative("broadcasting", lambda x, y: (x[:, None, :] * y[None, :, :]).sum(dim=-1)),
        Alternative("y first", lambda x, y: torch.einsum("jd,id->ij", y, x)),
        Alternative("matrix product", lambda x, y: x @ y.T, off_limits=True),
        Alternative("torch.mm", lambda x, y: torch.mm(x, y.mT), off_limits=True),
        Alternative("row by row", lambda x, y: torch.stack([y.mv(row) for row in x]), off_limits=True),
        Alternative("batch of one", lambda x, y: torch.bmm(x[None], y.mT[None])[0], off_limits=True),
        Alternative("from the linear algebra", lambda x, y: torch.linalg.matmul(x, y.mT), off_limits=True),
        Alternative("torch.inner", torch.inner, off_limits=True),
        Alternative("F.linear", F.linear, off_limits=True),
        Alternative("tensordot", lambda x, y: torch.tensordot(x, y, dims=([1], [1])), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "transposed",
            lambda x, y: torch.einsum("id,jd->ji", x, y),
            "the transposed result: your rows belong to y, your columns to x.",
            "the order of the letters behind the arrow is the order of the axes.",
        ),
        Mistake(
            "nothing summed",
            lambda x, y: torch.einsum("id,jd->ijd", x, y),
            "the products for every d, not added up: d still stands behind the arrow.",
            "a letter that is missing behind the arrow is summed over; leave d out there.",
        ),
        Mistake(
            "everything summed",
            lambda x, y: torch.einsum("id,jd->", x, y),
            "one number: with nothing behind the arrow every letter is summed over.",
            "name the two axes that the result keeps.",
        ),
        Mistake(
            "two letters for d",
            lambda x, y: torch.einsum("id,je->ij", x, y),
            "two letters for the one axis d: each row is summed alone, and the two sums are multiplied.",
            "give the last axis of x and of y the same letter; that ties them together.",
        ),
        Mistake(
            "i and j tied",
            lambda x, y: torch.einsum("id,id->i", x, y),
            "row i with row i only: one letter for the rows of both ties them together, and they differ in number.",
            "give the rows of y a letter of their own.",
        ),
        Mistake(
            "plain matrix product",
            lambda x, y: torch.einsum("ij,jk->ik", x, y),
            "the pattern of x @ y, which meets the columns of x with the rows of y.",
            "both have their vectors in rows: the shared letter comes last in both.",
        ),
        Mistake(
            "summed over the rows of y",
            lambda x, y: torch.einsum("id,jd->i", x, y),
            "one number for each row of x: j is missing behind the arrow, so the rows of y are added up.",
            "both i and j belong behind the arrow.",
        ),
        Mistake(
            "summed over the rows of x",
            lambda x, y: torch.einsum("id,jd->j", x, y),
            "one number for each row of y: i is missing behind the arrow, so the rows of x are added up.",
            "both i and j belong behind the arrow.",
        ),
    ),
    advice="name the axes: x is i d, y is j d, and the result keeps i and j.",
)

# 0.6 ------------------------------------------------------------------------------------------------------------------


def _split_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [{"x": torch.arange(8.0).view(1, 2, 4), "num_heads": 2}]
    for batch, length, heads, size in ((2, 5, 3, 4), (3, 4, 2, 6), (2, 3, 6, 1), (4, 6, 1, 5)):
        cases.append({"x": torch.randn(batch, length, heads * size, generator=rng), "num_heads": heads})
    return cases


def _sizes(x, num_heads):
    return x.shape[0], x.shape[1], num_heads, x.shape[2] // num_heads


def _split(x, num_heads):
    return x.view(_sizes(x, num_heads)).transpose(1, 2)


def _split_loop(x, num_heads):
    batch, length, heads, size = _sizes(x, num_heads)
    out = torch.zeros(batch, heads, length, size)
    for h in range(heads):
        out[:, h] = x[:, :, h * size : (h + 1) * size]
    return out


def _split_straight(x, num_heads):
    batch, length, heads, size = _sizes(x, num_heads)
    return x.reshape(batch, heads, length, size)


def _split_interleaved(x, num_heads):
    batch, length, heads, size = _sizes(x, num_heads)
    return x.reshape(batch, length, size, heads).permute(0, 3, 1, 2)


def _split_sizes_swapped(x, num_heads):
    batch, length, heads, size = _sizes(x, num_heads)
    return x.reshape(batch, length, size, heads).transpose(1, 2)


def _split_transposed_first(x, num_heads):
    batch, length, heads, size = _sizes(x, num_heads)
    return x.transpose(1, 2).reshape(batch, heads, length, size)


def _split_features_first(x, num_heads):
    batch, length, heads, size = _sizes(x, num_heads)
    return x.transpose(1, 2).reshape(batch, heads, size, length).transpose(2, 3)


SPLIT = Exercise(
    number="0.6",
    title="Split a dimension into heads",
    points=3,
    inputs=_split_inputs,
    reference=_split,
    returns=("heads",),
    alternatives=(
        Alternative("loop over heads", _split_loop),
        Alternative("reshape and permute", lambda x, n: x.reshape(_sizes(x, n)).permute(0, 2, 1, 3)),
        Alternative("chunks stacked", lambda x, n: torch.stack(x.chunk(n, dim=-1), dim=1)),
        Alternative("unflatten", lambda x, n: x.unflatten(-1, (n, -1)).transpose(1, 2)),
        Alternative("einsum", lambda x, n: torch.einsum("bihd->bhid", x.view(_sizes(x, n)))),
        Alternative("features first, then split", _split_features_first),
        Alternative("contiguous", lambda x, n: _split(x, n).contiguous()),
    ),
    mistakes=(
        Mistake(
            "straight to the shape",
            _split_straight,
            "one view or reshape straight to (B, H, L, d_head): the shape is right, but a head gets whole tokens "
            "instead of a part of every token.",
            "split the last axis first, to (B, L, H, d_head), then transpose positions and heads.",
        ),
        Mistake(
            "not transposed",
            lambda x, n: x.reshape(_sizes(x, n)),
            "the split without the transpose: shape (B, L, H, d_head), positions before heads.",
            "swap axes 1 and 2.",
        ),
        Mistake(
            "interleaved",
            _split_interleaved,
            "heads that take every H-th entry: the last axis was split as (d_head, H) where (H, d_head) is asked for.",
            "head 0 gets the first d_head entries, head 1 the next: split into (H, d_head).",
        ),
        Mistake(
            "sizes exchanged",
            _split_sizes_swapped,
            "number and size of the heads exchanged: shape (B, d_head, L, H).",
            "num_heads is the number of parts; d_head = d_model // num_heads is the size of one.",
        ),
        Mistake(
            "transposed before the split",
            _split_transposed_first,
            "a transpose of the whole tensor first, then a reshape: the reshape scrambles what the transpose moved.",
            "split first, then transpose.",
        ),
        Mistake(
            "batch and heads exchanged",
            lambda x, n: x.reshape(_sizes(x, n)).permute(2, 0, 1, 3),
            "heads before the batch: shape (H, B, L, d_head). torch.stack without dim=1 does that too.",
            "the batch stays first; only axes 1 and 2 of (B, L, H, d_head) trade places.",
        ),
        Mistake(
            "positions last",
            lambda x, n: x.reshape(_sizes(x, n)).permute(0, 2, 3, 1),
            "positions last: shape (B, H, d_head, L).",
            "only axes 1 and 2 trade places; d_head stays last.",
        ),
        Mistake(
            "list of heads",
            lambda x, n: list(x.chunk(n, dim=-1)),
            "the right parts as a Python list; asked for is one tensor.",
            "torch.stack with dim=1 would join them; a view and a transpose need no list.",
        ),
        Mistake(
            "batch and positions merged",
            lambda x, n: x.reshape(-1, n, x.shape[2] // n),
            "batch and positions merged into one axis: three axes, where four are asked for.",
            "name all four sizes: B, L, H, d_head.",
        ),
    ),
    advice="try x = torch.arange(8).view(1, 2, 4) with 2 heads: head 0 must hold [[0, 1], [4, 5]].",
)

# 0.7 ------------------------------------------------------------------------------------------------------------------


def _states_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [{"states": torch.tensor([[[1.0], [10.0]], [[2.0], [20.0]], [[3.0], [30.0]]])}]
    for length, batch, size in ((5, 2, 3), (3, 4, 6), (4, 4, 4), (6, 1, 2)):
        cases.append({"states": torch.randn(length, batch, size, generator=rng)})
    return cases


def _batch_first_by_reshape(states):
    return states.reshape(states.shape[1], states.shape[0], states.shape[2])


def _means_loop(states):
    length, batch, _ = states.shape
    return torch.stack([sum(states[i, b] for i in range(length)) / length for b in range(batch)])


BUG = Exercise(
    number="0.7",
    title="Find the bug",
    points=3,
    inputs=_states_inputs,
    reference=lambda states: states.mean(dim=0),
    returns=("means",),
    alternatives=(
        Alternative("as given, transpose for reshape", lambda states: states.transpose(0, 1).mean(dim=1)),
        Alternative("permute", lambda states: states.permute(1, 0, 2).mean(dim=1)),
        Alternative("einsum", lambda states: torch.einsum("ibd->bd", states) / states.shape[0]),
        Alternative("loop", _means_loop),
        Alternative("sum divided by length", lambda states: states.sum(0) / len(states)),
    ),
    mistakes=(
        Mistake(
            "still reshaped",
            lambda states: _batch_first_by_reshape(states).mean(dim=1),
            "the bug is still there: a reshape or view, in one step or in two, reads the numbers in memory order and "
            "mixes the sentences.",
            "swap the first two axes with a transpose.",
        ),
        Mistake(
            "averaged over the batch",
            lambda states: states.mean(dim=1),
            "the mean over the sentences, one vector for each position.",
            "average over the positions: axis 0 in (L, B, d), axis 1 after a transpose to (B, L, d).",
        ),
        Mistake(
            "averaged over the features",
            lambda states: states.transpose(0, 1).mean(dim=2),
            "the mean over the features of each vector.",
            "average over the positions and keep the last axis.",
        ),
        Mistake(
            "wrong pair of axes",
            lambda states: states.transpose(1, 2).mean(dim=0),
            "another pair of axes was swapped: features and batch. Your result has shape (d, B).",
            "swap axes 0 and 1.",
        ),
        Mistake(
            "summed",
            lambda states: states.sum(dim=0),
            "the sum over the positions: too large by the factor L.",
            "keep the mean; change the reshape only.",
        ),
        Mistake(
            "last state",
            lambda states: states[-1],
            "the last state of each sentence, not the mean of all.",
            "keep the mean; change the reshape only.",
        ),
        Mistake(
            "not averaged",
            lambda states: states.transpose(0, 1),
            "the states, batch first, and right; the mean over the positions is missing.",
            "average over axis 1.",
        ),
        Mistake(
            "axis kept",
            lambda states: states.mean(dim=0, keepdim=True),
            "the right means with an axis of size 1 in front.",
            "leave keepdim out here: the result has shape (B, d).",
        ),
    ),
    advice="use states whose numbers tell where they come from: 1, 2, 3 for one sentence and 10, 20, 30 for the other.",
)

# 0.8, 0.9 -------------------------------------------------------------------------------------------------------------

SHAPE = Quiz(
    number="0.8",
    title="Name the shape",
    points=1,
    right="c",
    options={
        "a": Option(
            "(8, 10, 16)",
            "that averages over the heads, as it would without the transpose; after it, axis 2 holds the positions.",
        ),
        "b": Option(
            "(8, 4, 10, 16)",
            "that is the shape before the mean; mean(dim=2) takes axis 2 away.",
        ),
        "c": Option(
            "(8, 4, 16)",
            "view gives (8, 10, 4, 16), transpose (8, 4, 10, 16), and the mean takes away axis 2, the positions.",
        ),
        "d": Option(
            "(8, 4, 1, 16)",
            "an axis of size 1 stays only with keepdim=True.",
        ),
    },
)

SIGHT = Quiz(
    number="0.9",
    title="How far a convolution sees",
    points=1,
    right="b",
    options={
        "a": Option(
            "5",
            "that is one layer; the second layer looks at outputs that have each seen 5 inputs already.",
        ),
        "b": Option(
            "13",
            "each layer adds 2 positions on either side, so 3 layers reach 6 to each side: 6 + 1 + 6.",
        ),
        "c": Option(
            "15",
            "that is 3 times 5, as if the windows stood side by side; they overlap, and each adds only 4.",
        ),
        "d": Option(
            "125",
            "that is 5 to the power 3, the number of paths through the layers; many of them end at one position. "
            "Growth by a power needs dilated kernels.",
        ),
    },
)

EXERCISES = (SHARES, PAD, SHIFT, EMBED, PAIRS, SPLIT, BUG, SHAPE, SIGHT)
