"""Find the bug: scores with rotary positions."""

from functools import partial

import torch

from ...exercise import Case, Exercise, Fault
from ...kit import rotation
from ...symptoms.beside import remembers


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    sizes = ((1, 1, 2, 2, 4), (2, 4, 5, 7, 6), (3, 2, 6, 6, 8), (1, 3, 1, 5, 10), (2, 4, 3, 9, 6), (2, 4, 5, 7, 6))
    for B, H, L_q, L_k, d in sizes:
        query, key = torch.randn(B, H, L_q, d, generator=rng), torch.randn(B, H, L_k, d, generator=rng)
        cases.append(Case(query=query, key=key))
    cases[-1].labels = ("an earlier call had the same sizes",)
    return cases


def rotary_scores(
    query, key, *,
    query_turn=rotation.turned, key_turn=rotation.turned,
    query_places=lambda L_q, L_k: torch.arange(L_k - L_q, L_k), key_places=torch.arange,
    exponents=rotation.right_exponents, scale=lambda d: d**-0.5,
):  # fmt: skip
    """Scores of turned queries and keys; each keyword is one step."""
    L_q, L_k, d = query.shape[-2], key.shape[-2], query.shape[-1]
    of = partial(rotation.angles, i=torch.arange(d // 2), d=d, exponents=exponents)
    query, key = query_turn(query, of(query_places(L_q, L_k))), key_turn(key, of(key_places(L_k)))
    return query @ key.mT * scale(d)


def _not_turned(x, angle):
    return x


_PAIRS = partial(rotation.turned, cut=rotation.neighbors, join=rotation.interleaved)
_BACK = partial(rotation.turned, turn=rotation.clockwise)
_BOTH = "cut both as the query was: the first half and the second half of the features."

EXERCISE = Exercise(
    answer="rotary_scores", cases=_cases, reference=rotary_scores, returns=("scores",),
    symptoms=(remembers, rotation.positive_exponents(0)), faults=(
        Fault("as it was", "the function as it was: the query is turned in pairs of halves, the key in pairs of neighbors.",
            _BOTH, key_turn=_PAIRS),
        Fault("the other way around", "now the key is turned in pairs of halves and the query in pairs of neighbors.", _BOTH,
            query_turn=_PAIRS),
        Fault("both neighbors", "query and key agree now, as pairs of neighbors; that is RoPE, but not the one asked for.",
            "pair the halves in both, (i, i + d_head / 2).", query_turn=_PAIRS, key_turn=_PAIRS),
        Fault("key put back as neighbors", "the key is cut into halves, but put back as neighbors: its features end up "
            "in another order.", "torch.cat the two halves of the key, as for the query.",
            key_turn=partial(rotation.turned, join=rotation.interleaved)),
        Fault("key cut as neighbors, put back as halves", "the key is cut into neighbors, and put back as halves.", _BOTH,
            key_turn=partial(rotation.turned, cut=rotation.neighbors)),
        Fault("queries from 0", "the queries are counted from 0: with a cache they are the last positions.",
            "query i stands at position i + (L_k - L_q).", query_places=lambda L_q, L_k: torch.arange(L_q)),
        Fault("queries all last", "all queries stand at the last position, L_k - 1.",
            "query i stands at position i + (L_k - L_q).", query_places=lambda L_q, L_k: torch.full((L_q,), L_k - 1)),
        Fault("queries one too far", "the queries stand one position too far: query and key of one token are 1 apart.",
            "the last query stands at L_k - 1, where the last key stands.",
            query_places=lambda L_q, L_k: torch.arange(L_k - L_q, L_k) + 1),
        Fault("only queries turned", "only the queries are turned: the scores depend on the query's position.",
            "turn the keys as well, each by its own position.", key_turn=_not_turned),
        Fault("only keys turned", "only the keys are turned: the scores depend on the key's position.",
            "turn the queries as well, each by its own position.", query_turn=_not_turned),
        Fault("nothing turned", "nothing is turned: the scores know no positions.",
            "turn queries and keys, both in pairs of halves.", query_turn=_not_turned, key_turn=_not_turned),
        Fault("key the other way", "the keys are turned the other way: the scores depend on the sum of the positions.",
            "turn both the same way; the dot product makes the difference by itself.", key_turn=_BACK),
        Fault("both the other way", "both are turned the other way: left and right are exchanged.",
            "(a, b) becomes (a cos - b sin, a sin + b cos).", query_turn=_BACK, key_turn=_BACK),
        *rotation.exponent_faults("d_head"),
        Fault("root of the half", "scores divided by the root of d_head / 2.", "the root of d_head divides them.",
            scale=lambda d: (d / 2) ** -0.5),
    ),
    advice="the last query and the last key share a position: their score is q · k / sqrt(d_head), as if nothing were turned.",
)  # fmt: skip
