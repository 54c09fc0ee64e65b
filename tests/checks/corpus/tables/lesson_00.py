"""Answers that the first tables of lesson 00 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import itertools
import torch
import torch.nn.functional as F
from torch import nn
from . import Answers, Right, Wrong

SHARES = Answers(
    number="0.1",
    alternatives=(
        Right("axis put back with None", lambda x: x / x.sum(1)[:, None]),
        Right("unsqueeze", lambda x: x / x.sum(-1).unsqueeze(-1)),
        Right("loop", lambda x: torch.stack([row / row.sum() for row in x])),
        Right("transposed twice", lambda x: (x.T / x.sum(1)).T),
        Right("einsum", lambda x: torch.einsum("id,i->id", x, 1 / torch.einsum("id->i", x))),
        Right("PyTorch's own", lambda x: F.normalize(x, p=1, dim=-1), off_limits=True),
    ),
    mistakes=(
        Wrong("divided by everything", lambda x: x / x.sum()),
        Wrong("shares of the columns", lambda x: x / x.sum(dim=0)),
        Wrong("axis lost", lambda x: x / x.sum(dim=-1)),
        Wrong("mean", lambda x: x / x.mean(dim=-1, keepdim=True)),
        Wrong("maximum", lambda x: x / x.amax(dim=-1, keepdim=True)),
        Wrong("length", lambda x: x / x.norm(dim=-1, keepdim=True)),
        Wrong("softmax", lambda x: x.softmax(dim=-1)),
        Wrong("percent", lambda x: 100 * x / x.sum(dim=-1, keepdim=True)),
        Wrong("sums returned", lambda x: x.sum(dim=-1, keepdim=True)),
        Wrong("in place", lambda x: x.div_(x.sum(dim=-1, keepdim=True))),
    ),
)


def _pad(sequences, pad_id, length=None, **options):
    length = max(map(len, sequences)) if length is None else length
    return torch.tensor([list(s)[:length] + [pad_id] * (length - len(s)) for s in sequences], **options)


def _pad_fill(sequences, pad_id):
    out = torch.full((len(sequences), max(map(len, sequences))), pad_id)
    for row, ids in zip(out, sequences, strict=True):
        row[: len(ids)] = torch.tensor(ids)
    return out


def _pad_one_by_one(sequences, pad_id):
    length = max((len(ids) for ids in sequences))
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


PAD = Answers(
    number="0.2",
    alternatives=(
        Right("filled tensor", _pad_fill),
        Right("F.pad, then stack", _pad_one_by_one),
        Right(
            "zip_longest",
            lambda sequences, pad_id: torch.tensor(list(itertools.zip_longest(*sequences, fillvalue=pad_id))).T,
        ),
        Right(
            "PyTorch's own",
            lambda sequences, pad_id: nn.utils.rnn.pad_sequence(
                [torch.tensor(ids) for ids in sequences], batch_first=True, padding_value=pad_id
            ),
            off_limits=True,
        ),
    ),
    mistakes=(
        Wrong("padded on the left", _pad_left),
        Wrong("pad id of one's own", lambda sequences, pad_id: _pad(sequences, 0)),
        Wrong(
            "zeros replaced", lambda sequences, pad_id: _pad(sequences, 0).masked_fill(_pad(sequences, 0) == 0, pad_id)
        ),
        Wrong("cut to the shortest", lambda sequences, pad_id: _pad(sequences, pad_id, min(map(len, sequences)))),
        Wrong(
            "length of the first",
            lambda sequences, pad_id: torch.tensor(
                [ids + [pad_id] * (len(sequences[0]) - len(ids)) for ids in sequences]
            ),
        ),
        Wrong("cut or filled to the first", lambda sequences, pad_id: _pad(sequences, pad_id, len(sequences[0]))),
        Wrong("not padded", lambda sequences, pad_id: torch.tensor(sequences)),
        Wrong("one too long", lambda sequences, pad_id: _pad(sequences, pad_id, max(map(len, sequences)) + 1)),
        Wrong("last id repeated", _pad_repeat),
        Wrong("floats", lambda sequences, pad_id: _pad(sequences, pad_id, dtype=torch.float32)),
        Wrong("list of lists", lambda sequences, pad_id: _pad(sequences, pad_id).tolist()),
        Wrong("position first", lambda sequences, pad_id: _pad(sequences, pad_id).T),
        Wrong("in place", _pad_in_place),
    ),
)


def _sizes(x, num_heads):
    return (x.shape[0], x.shape[1], num_heads, x.shape[2] // num_heads)


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


SPLIT = Answers(
    number="0.6",
    alternatives=(
        Right("loop over heads", _split_loop),
        Right("reshape and permute", lambda x, n: x.reshape(_sizes(x, n)).permute(0, 2, 1, 3)),
        Right("chunks stacked", lambda x, n: torch.stack(x.chunk(n, dim=-1), dim=1)),
        Right("unflatten", lambda x, n: x.unflatten(-1, (n, -1)).transpose(1, 2)),
        Right("einsum", lambda x, n: torch.einsum("bihd->bhid", x.view(_sizes(x, n)))),
        Right("features first, then split", _split_features_first),
        Right("contiguous", lambda x, n: _split(x, n).contiguous()),
    ),
    mistakes=(
        Wrong("straight to the shape", _split_straight),
        Wrong("not transposed", lambda x, n: x.reshape(_sizes(x, n))),
        Wrong("interleaved", _split_interleaved),
        Wrong("sizes exchanged", _split_sizes_swapped),
        Wrong("transposed before the split", _split_transposed_first),
        Wrong("batch and heads exchanged", lambda x, n: x.reshape(_sizes(x, n)).permute(2, 0, 1, 3)),
        Wrong("positions last", lambda x, n: x.reshape(_sizes(x, n)).permute(0, 2, 3, 1)),
        Wrong("list of heads", lambda x, n: list(x.chunk(n, dim=-1))),
        Wrong("batch and positions merged", lambda x, n: x.reshape(-1, n, x.shape[2] // n)),
    ),
)


EXERCISES = (
    SHARES,
    PAD,
    SPLIT,
)
