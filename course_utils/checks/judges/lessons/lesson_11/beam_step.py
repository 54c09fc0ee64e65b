"""One step of a beam search for many words: the best of all candidates of each word, and the rows they go on from."""

import torch

from ....probes.codec import decode
from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.view import Told


def beam_step(
    totals, log_probs, *, cut=lambda table, B, K: table.view(B, K, -1), add=lambda totals, table: totals[:, :, None] + table,
    best=lambda pool, K, V: pool.topk(K), beam=lambda place, K, V: place // V, symbol=lambda place, K, V: place % V,
    first=lambda B, K, V: K * torch.arange(B)[:, None], shape=torch.flatten, shown=lambda values, old: values,
):  # fmt: skip
    """The reference; each keyword is one step."""
    (B, K), V = totals.shape, log_probs.shape[-1]
    values, places = best(add(totals, cut(log_probs, B, K)).flatten(1), K, V)
    parents = beam(places, K, V)
    return (
        shown(values, totals.gather(1, parents.clamp(max=K - 1))),
        symbol(places, K, V),
        shape(first(B, K, V) + parents),
    )


def _cases(seed):
    rng, cases = torch.Generator().manual_seed(seed), []
    rows = [[-1.0, -3.0, -9.0], [-0.5, -1.0, -9.0], [-4.0, -1.5, -0.5], [-1.0, -9.0, -9.0]]
    cases.append(Case(totals=torch.tensor([[-1.0, -2.0], [-1.0, -3.0]]), log_probs=torch.tensor(rows)))
    for B, K, V, label in (
        (1, 3, 5, None), (3, 2, 4, None), (2, 4, 9, None), (5, 3, 6, None), (3, 1, 7, None),
        (4, 3, 8, "some beams do not exist yet"), (2, 4, 6, "the beams are improbable, and some do not exist yet"),
        (3, 5, 3, "more beams than symbols"), (3, 3, 3, None),
    ):  # fmt: skip
        dtype = torch.float64 if B == 5 else torch.float32
        totals = -3 * torch.rand(B, K, generator=rng, dtype=dtype) - 1
        if label and "exist" in label:
            totals[:, 2 if "improbable" in label else 1 :] = -torch.inf
            totals -= 200 * ("improbable" in label)
        logits = 2 * torch.randn(B * K, V, generator=rng, dtype=dtype)
        cases.append(Case(*(label,) if label else (), totals=totals, log_probs=logits.log_softmax(-1)))
    return cases


def _side_by_side(totals, log_probs):
    best, symbols = log_probs.max(-1)
    new, order = (totals + best.view_as(totals)).sort(1, descending=True)
    rows = order + totals.shape[1] * torch.arange(len(totals))[:, None]
    return new, symbols.view_as(totals).gather(1, order), rows.flatten()


def _among_all_words(totals, log_probs):
    (B, K), V = totals.shape, log_probs.shape[-1]
    values, places = (totals.flatten()[:, None] + log_probs).flatten().topk(B * K)
    return values.view(B, K), (places % V).view(B, K), places // V


def _one_for_each_beam(view):
    """The new totals are those of each beam's best candidate, in whatever order; a beam that does not exist yet has one too."""
    for index, seen in enumerate(view.cases):
        totals, log_probs = (view.inputs[index][name] for name in ("totals", "log_probs"))
        found = decode(seen["value"]) if seen["outcome"] == "returned" else None
        found = found[0] if isinstance(found, tuple | list) and found else None
        best = totals + log_probs.amax(-1).view_as(totals)
        if not isinstance(found, torch.Tensor) or found.shape != best.shape:
            return None
        if not torch.allclose(found.double().sort(1).values, best.double().sort(1).values, rtol=1e-4):
            return None
    said = "each beam kept its own best candidate and no other: greedy searches side by side."
    return Told("symptom", "one for each beam", said, f"a beam may have two of the K best, or none: {_POOL}")


_PARTS = "a place in a word's long row is beam * V + symbol: place // V is the beam, place % V the symbol."
_ROWS = "the beams of word b begin at row b * K: add that to the beam's number."
_POOL = "put all K * V candidates of a word into one long row, flatten(1), and take topk(K) of it."

EXERCISE = Exercise(
    answer="beam_step", cases=_cases, reference=beam_step, returns=("new_totals", "symbols", "rows"),
    symptoms=(_one_for_each_beam,),
    faults=(
        *faults_of("first", _ROWS,
            ("rows within the word", "rows holds each beam's number within its own word.", lambda B, K, V: 0),
            ("words counted by one", "the number of the word is added to the beam's, as if a word had one row.",
                lambda B, K, V: torch.arange(B)[:, None]),
            ("words counted by symbols", "each word is taken to have V rows.", lambda B, K, V: V * torch.arange(B)[:, None])),
        *faults_of("beam", _PARTS,
            ("beam by K", "the place is divided by the number of beams.", lambda place, K, V: place // K),
            ("beam and symbol exchanged", "the beam is read from the rest of the division.", lambda place, K, V: place % V),
            ("beam of its own number", "new beam number k is taken to go on from old beam number k.",
                lambda place, K, V: torch.arange(K).expand_as(place))),
        *faults_of("symbol", _PARTS,
            ("symbol by K", "the symbol is the rest of a division by the number of beams.", lambda place, K, V: place % K),
            ("places for symbols", "symbols holds places in the long row.", lambda place, K, V: place),
            ("the beam as the symbol", "symbols holds the beam's number.", lambda place, K, V: place // V)),
        *faults_of("best", _POOL,
            ("worst candidates", "the least probable candidates are kept.", lambda pool, K, V: pool.topk(K, largest=False),
                "take the largest."),
            ("lowest first", "the lowest of the best comes first.", lambda pool, K, V: [t.flip(1) for t in pool.topk(K)],
                "put the highest first, as topk does.")),
        *faults_of("add", "add each beam's total to its row: totals[:, :, None] + the log-probabilities as (B, K, V).",
            ("last step only", "what the beams had before is left out.", lambda totals, table: table),
            ("missing beams as 0", "a beam that doesn't exist yet (minus infinity) counts as if its log-probability were 0.",
                lambda totals, table: totals.masked_fill(totals.isinf(), 0.0)[:, :, None] + table),
            ("multiplied", "totals and log-probabilities are multiplied.", lambda totals, table: totals[:, :, None] * table),
            ("probabilities added", "the probabilities are added to the totals.",
                lambda totals, table: totals[:, :, None] + table.exp())),
        Fault("beams before words", "the rows are read as if all words' first beams came first.",
            "word 0 has the first K rows: view(B, K, V).", cut=lambda table, B, K: table.view(K, B, -1).transpose(0, 1)),
        Fault("rows as a table", "rows has the shape (B, K).", "flatten it: one row number for each of the B * K beams.",
            shape=lambda rows: rows),
        Fault("old totals", "new_totals holds what the chosen beams had before this step.",
            "return the sum: what topk hands back with the places.", shown=lambda values, old: old),
        Fault("best of each beam", "each beam goes on with its own best symbol: greedy searches side by side.", _POOL,
            whole=_side_by_side),
        Fault("best among all words", "the best candidates of the whole batch: one word may take another's places.", _POOL,
            whole=_among_all_words),
    ),
    advice="work the second word of the example by hand: six candidates, the two best, and the row that each goes on from.",
)  # fmt: skip
