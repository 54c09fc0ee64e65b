"""Find the bug: a step of attention with rotary positions and a cache."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.beside import remembers


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, H, d_head, d_v, pieces, dtype, *labels in (
        (1, 1, 2, 3, [2, 1], torch.float32), (2, 3, 4, 5, [4, 1, 1, 2], torch.float32),
        (3, 2, 6, 4, [1, 3, 2], torch.float64), (2, 4, 4, 5, [5, 2], torch.float32),
        (2, 3, 4, 5, [3, 1, 2], torch.float32, "another text is begun in between"),
    ):  # fmt: skip
        L, frequency = sum(pieces), 100.0 ** (-torch.arange(0, d_head, 2).double() / d_head)
        angle = torch.arange(L + 3)[:, None] * frequency
        query, key = (1.5 * torch.randn(B, H, L, d_head, generator=rng).to(dtype) for _ in range(2))
        value = torch.randn(B, H, L, d_v, generator=rng).to(dtype)
        tables = {"cos": angle.cos().to(dtype), "sin": angle.sin().to(dtype)}
        given = {"query": query, "key": key, "value": value, **tables, "pieces": pieces}
        cases.append(Case(*labels, **given, _beside=bool(labels)))
    return cases


def _turned(x, first, cos, sin):
    a, b = x.chunk(2, dim=-1)
    cos, sin = (table[first : first + x.shape[2]] for table in (cos, sin))
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def attend_step(
    query, key, value, keys, values, cos, sin, *, first=lambda keys, new: keys.shape[2],
    query_first=lambda first: first, key_first=lambda first: first, turn_query=_turned, turn_key=_turned,
    turn_value=lambda value, first, cos, sin: value, again=lambda keys, cos, sin: keys,
    join=lambda old, new: torch.cat([old, new], dim=2),
    seen=lambda new, old: torch.ones(new, old + new).tril(old).bool(), keep=lambda turned, raw: turned,
    size=lambda query, value: query.shape[-1],
):  # fmt: skip
    """One step; each keyword is one part of it."""
    old, new, raw = keys.shape[2], query.shape[2], key
    start = first(keys, new)
    query = turn_query(query, query_first(start), cos, sin)
    key = turn_key(key, key_first(start), cos, sin)
    value = turn_value(value, old, cos, sin)
    keys = again(keys, cos, sin)
    everything, values = join(keys, key), join(values, value)
    scores = (query @ everything.mT / size(query, value) ** 0.5).masked_fill(~seen(new, old), -torch.inf)
    return scores.softmax(-1) @ values, join(keys, keep(key, raw)), values


def _value_turned(value, first, cos, sin):
    even, half = value.shape[-1] // 2 * 2, value.shape[-1] // 2
    return torch.cat([_turned(value[..., :even], first, cos[:, :half], sin[:, :half]), value[..., even:]], dim=-1)


def _turned_anew(query, key, value, keys, values, cos, sin):
    output, _, joined = attend_step(query, key, value, _turned(keys, 0, cos, sin), values, cos, sin)
    return output, torch.cat([keys, key], dim=2), joined


_BOTH = "new queries and new keys stand at positions L_old to L_old + L_new - 1, both."

EXERCISE = Exercise(
    answer="attend_step", cases=_cases, reference=attend_step, returns=("outputs", "keys", "values"),
    symptoms=(remembers,),
    faults=(
        *faults_of("first", "the first new position is the number of kept keys, keys.shape[2]; positions count from 0.",
            ("restarted at 0", "the positions start at 0 again in every call: that is the bug that was to be found.",
                lambda keys, new: 0, _BOTH),
            ("one too far", "positions are counted from 1: the outputs are right, since only distances matter, not the keys.",
                lambda keys, new: keys.shape[2] + 1),
            ("one too far behind kept keys", "behind kept keys the new positions start one too far; one position is left out.",
                lambda keys, new: keys.shape[2] and keys.shape[2] + 1),
            ("start behind the new ones", "the new keys were already counted among the kept ones: the start is L_new too far.",
                lambda keys, new: keys.shape[2] + new, "read keys.shape[2] before you join new keys to kept ones."),
            ("one too near", "the new positions start one too early: the last kept key and the first new one share one.",
                lambda keys, new: max(keys.shape[2] - 1, 0)),
            ("start from the whole length",
                "the new positions start at the last position of all: right for one new token, wrong for several.",
                lambda keys, new: keys.shape[2] and keys.shape[2] + new - 1),
            ("start by the number of heads", "the start was read from keys.shape[1], the number of heads.",
                lambda keys, new: keys.shape[1] if keys.shape[2] else 0, "positions stand on axis 2 of (B, H, L, d_head).")),
        *faults_of("query_first", _BOTH,
            ("only the keys mended", "the keys stand where they should, but the queries still start at position 0.", lambda _: 0),
            ("queries one too far", "the queries stand one position behind their keys: every distance is too large by 1.",
                lambda first: first + 1)),
        Fault("only the queries mended", "the queries stand where they should, but the keys still start at position 0.",
            _BOTH, key_first=lambda first: 0),
        Fault("queries start behind the new keys", "the queries' start counts the new keys among the kept ones: it is L_new "
            "too far.", "read keys.shape[2] before you join new keys to kept ones.",
            turn_query=lambda x, first, cos, sin: _turned(x, first + x.shape[2], cos, sin)),
        Fault("last rows of the tables", "the last rows of cos and sin were taken; those are for positions still to come.",
            "the first row is that of the position after the kept keys, row keys.shape[2].",
            turn_query=lambda x, _, *tables: _turned(x, len(tables[0]) - x.shape[2], *tables),
            turn_key=lambda x, _, *tables: _turned(x, len(tables[0]) - x.shape[2], *tables)),
        Fault("old keys turned again", "all keys are turned in every call; those that were kept had been turned already.",
            "turn the new keys only, then join them to the kept ones.", again=lambda keys, *tables: _turned(keys, 0, *tables)),
        Fault("values turned", "the values were turned too.", "only queries and keys know their position; leave values alone.",
            turn_value=_value_turned),
        Fault("queries not turned", "the queries are not turned.", _BOTH, turn_query=lambda x, *_: x),
        Fault("keys not turned", "the new keys are joined to the kept ones without being turned.", _BOTH,
            turn_key=lambda x, *_: x),
        Fault("raw keys kept", "the keys were handed back as they came in; the next call takes them for turned ones.",
            "keep the turned keys.", keep=lambda turned, raw: raw),
        Fault("turned anew at each step", "keys are kept unturned, and all of them turned at each step: the outputs are right, "
            "the keys are not.", "turn the new keys once, and keep them turned.", whole=_turned_anew),
        Fault("root of d_v", "the scores are divided by the root of d_v, the size of a value.",
            "divide by the root of the size of a query, query.shape[-1].", size=lambda query, value: value.shape[-1]),
        Fault("new ones in front", "the new keys and values stand in front of the kept ones.",
            "torch.cat((keys, key), dim=2): what was kept comes first.", join=lambda old, new: torch.cat([new, old], dim=2)),
        *faults_of("seen", "leave the mask as it was; the bug is elsewhere.",
            ("no mask", "the mask is gone: of several new positions the early ones see the later.",
                lambda new, old: torch.ones(new, old + new).bool()),
            ("top-left mask", "the mask is aligned top-left: the new queries no longer see the newest keys.",
                lambda new, old: torch.ones(new, old + new).tril().bool())),
    ),
    advice="which position does the first new token have (cos and sin), and which keys may it see (the mask)? Print both.",
)  # fmt: skip
