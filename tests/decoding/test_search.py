"""Greedy decoding and beam search: on models whose every step is known, and as teacher forcing scores real ones."""

import math

import pytest
import torch

from course_utils.decoding import beam_search, greedy_decode
from course_utils.models import make_transformer
from course_utils.models.recurrent import RecurrentSeq2Seq


class Script:
    """Row b says the symbols of ``lines[b]`` one after the other, each with probability 0.6."""

    def __init__(self, lines, vocab=9):
        self.lines, self.vocab, self.fed = lines, vocab, []

    def start_decoding(self, source, *, max_len):
        assert source.shape[0] == len(self.lines) and max_len > 0
        return 0

    def decode_step(self, step, tokens):
        self.fed.append(tokens.tolist())
        probs = torch.full((len(self.lines), self.vocab), 0.4 / (self.vocab - 1))
        for row, line in enumerate(self.lines):
            probs[row, line[min(step, len(line) - 1)]] = 0.6
        return probs.log(), step + 1


@pytest.mark.parametrize(
    ("lines", "expected", "lengths", "options"),
    [
        ([[5, 6, 2], [2], [7, 8, 7, 8, 2]], [[5, 6, 2, 0, 0], [2, 0, 0, 0, 0], [7, 8, 7, 8, 2]], [3, 1, 5], {}),
        ([[5], [6, 2]], [[5, 5, 5, 5], [6, 2, 0, 0]], [4, 2], {"max_len": 4}),
        ([[1, 2, 7], [7]], [[1, 2, 7], [7, 8, 8]], [3, 1], {"start_id": 3, "end_id": 7, "pad_id": 8}),
    ],
)
def test_each_sequence_ends_by_itself_or_at_the_limit(lines, expected, lengths, options):
    model = Script(lines)
    tokens, log_probs = greedy_decode(model, torch.zeros(len(lines), 4).long(), **{"max_len": 10, **options})
    assert tokens.tolist() == expected  # and no longer than the longest
    torch.testing.assert_close(log_probs, torch.tensor(lengths) * math.log(0.6))
    start = options.get("start_id", 1)
    assert model.fed[:2] == [
        [start] * len(lines),
        [line[0] for line in lines],
    ]  # the start symbol, then what was chosen


class Table:
    """The next symbol depends on the last one only: ``transitions[last][next]`` are probabilities; rows are independent."""

    def __init__(self, transitions):
        self.log = torch.tensor(transitions).log()

    def start_decoding(self, source, *, max_len):
        return Rows(source[:, 0])

    def decode_step(self, state, tokens):
        assert state.rows.shape == tokens.shape
        return self.log[tokens], state


class Rows:
    """A state that knows which source each row belongs to."""

    def __init__(self, rows):
        self.rows = rows

    def reorder(self, rows):
        return Rows(self.rows[rows])


# Symbols: 0 padding, 1 start, 2 end, 3 and 4. Greedy takes 3 (0.55), after which everything is unsure; 4 is the better way.
GARDEN_PATH = [
    [0.2] * 5,
    [0.0, 0.0, 0.05, 0.55, 0.4],
    [0.2] * 5,
    [0.0, 0.0, 0.4, 0.3, 0.3],
    [0.0, 0.0, 0.9, 0.05, 0.05],
]


def all_sequences(log, max_len):
    """Every sequence up to its end symbol or the limit, with its log-probability."""
    grown = [((), 0.0)]
    for _ in range(max_len):
        grown = [
            (s + (i,), p + float(log[s[-1] if s else 1, i])) if not s or s[-1] != 2 else (s, p)
            for s, p in grown
            for i in (range(len(log)) if not s or s[-1] != 2 else [None])
        ]
    return {s: p for s, p in grown if p > -math.inf}


def test_beam_search_by_hand():
    source = torch.tensor([[0, 0]])
    greedy = greedy_decode(Table(GARDEN_PATH), source, max_len=6)
    assert greedy.tokens.tolist() == [[3, 2]] and greedy.log_probs.exp().item() == pytest.approx(0.22)
    tokens, scores, log_probs = beam_search(Table(GARDEN_PATH), source, max_len=6, beam_size=2, length_penalty=0.0)
    assert tokens[0].tolist() == [[4, 2], [3, 2]]
    assert log_probs[0].exp().tolist() == pytest.approx([0.36, 0.22]) and torch.equal(scores, log_probs)
    normalized = beam_search(Table(GARDEN_PATH), source, max_len=6, beam_size=2)
    assert normalized.scores[0, 0].item() == pytest.approx(math.log(0.36) / 2)
    assert normalized.scores[0, 1] > math.log(0.22) / 2  # a longer one, found while some live one could still win
    best = normalized.best()
    assert best.tokens[0, :2].tolist() == [4, 2] and best.log_probs.exp().item() == pytest.approx(0.36)


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_with_beams_for_all_it_finds_the_best_there_is(penalty):
    torch.manual_seed(1)
    logits = 2 * torch.randn(5, 5)
    logits[:, 0] = -math.inf  # padding is never said
    model = Table(torch.softmax(logits, -1).tolist())
    scored = {s: p / len(s) ** penalty for s, p in all_sequences(model.log, 4).items()}
    # 300 beams hold every sequence of 4 symbols out of 4, so nothing is lost on the way.
    found = beam_search(model, torch.zeros(1, 3, dtype=torch.long), max_len=4, beam_size=300, length_penalty=penalty)
    torch.testing.assert_close(found.scores[0, : len(scored)], torch.tensor(sorted(scored.values(), reverse=True)))
    for row, score in zip(found.tokens[0, : len(scored)].tolist(), found.scores[0], strict=False):
        assert score.item() == pytest.approx(scored[tuple(i for i in row if i)], abs=1e-5)
    assert found.scores.isfinite().sum() == len(scored)


def test_without_length_normalization_short_ones_win():
    model = Table([[0.2] * 5, [0.0, 0.0, 0.2, 0.8, 0.0], [0.2] * 5, [0.0, 0.0, 0.02, 0.18, 0.8], [0, 0, 0.6, 0.0, 0.4]])
    source = torch.zeros(1, 2, dtype=torch.long)
    plain, normalized = (
        beam_search(model, source, max_len=9, beam_size=3, length_penalty=penalty) for penalty in (0.0, 1.0)
    )
    assert (normalized.tokens[0, 0] != 0).sum() > (plain.tokens[0, 1] != 0).sum()
    assert normalized.scores[0].tolist() == sorted(normalized.scores[0].tolist(), reverse=True)


# After 3, 4 and 3 again follow for sure; 2 ends. The best sequence has three symbols before its end and probability 0.54.
SLOW_BEST = {
    (): {3: 0.6, 2: 0.25, 4: 0.15},
    (3,): {4: 1.0},
    (3, 4): {3: 1.0},
    (3, 4, 3): {2: 0.9, 4: 0.1},
    (4,): {2: 1.0},
}


class Tree:
    """The next symbol depends on all symbols so far; what is not listed ends at once."""

    def __init__(self, probabilities):
        self.probabilities = probabilities

    def start_decoding(self, source, *, max_len):
        return Said([()] * len(source))

    def decode_step(self, state, tokens):
        said = [(*before, token) for before, token in zip(state.said, tokens.tolist(), strict=True)]
        probs = torch.zeros(len(said), 6)
        for row, symbols in zip(probs, said, strict=True):
            for symbol, p in self.probabilities.get(symbols[1:], {2: 1.0}).items():
                row[symbol] = p
        return probs.log(), Said(said)


class Said:
    def __init__(self, said):
        self.said = said

    def reorder(self, rows):
        return Said([self.said[row] for row in rows.tolist()])


@pytest.mark.parametrize("beam_size", [1, 2, 3, 5])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_two_that_end_early_do_not_stop_a_better_one_that_still_grows(beam_size, penalty):
    source = torch.zeros(3, 2, dtype=torch.long)
    found = beam_search(Tree(SLOW_BEST), source, max_len=8, beam_size=beam_size, length_penalty=penalty)
    assert found.best().tokens[:, :5].tolist() in ([[3, 4, 3, 2]] * 3, [[3, 4, 3, 2, 0]] * 3)
    assert found.best().log_probs.exp().tolist() == pytest.approx([0.54] * 3)


def without_a_stop(log, max_len, beam_size, penalty):
    """(score, symbols) of what a beam search finds that never stops early, the best first."""
    alive, finished = [(0.0, ())], []
    for step in range(1, max_len + 1):
        grown = [(p + float(log[s[-1] if s else 1, i]), (*s, i)) for p, s in alive for i in range(len(log))]
        grown = sorted((one for one in grown if one[0] > -math.inf), reverse=True)
        finished += [(p / step**penalty, s) for p, s in grown[:beam_size] if s[-1] == 2 or step == max_len]
        alive = [one for one in grown if one[1][-1] != 2][:beam_size]
    return sorted(finished, reverse=True)


@pytest.mark.parametrize("penalty", [0.0, 0.5, 1.0, 2.0])
def test_it_stops_when_no_live_one_can_win_and_so_loses_nothing(penalty):
    """The best is that of a search which never stops; where models are sure, some searches are shorter."""
    torch.manual_seed(0)
    steps = []
    for sharp in (1.0, 3.0, 6.0) * 5:
        logits = sharp * torch.randn(6, 6)
        logits[:, 0] = -math.inf
        model = Table(torch.softmax(logits, -1).tolist())
        for beam_size in (1, 2, 3):
            asked = []
            model.decode_step = lambda state, tokens, model=model, asked=asked: (
                asked.append(1),
                Table.decode_step(model, state, tokens),
            )[1]
            source = torch.zeros(1, 2, dtype=torch.long)
            found = beam_search(model, source, max_len=12, beam_size=beam_size, length_penalty=penalty)
            score, symbols = without_a_stop(model.log, 12, beam_size, penalty)[0]
            assert found.scores[0, 0].item() == pytest.approx(score, abs=1e-5)
            assert tuple(i for i in found.tokens[0, 0].tolist() if i) == symbols
            steps.append(len(asked))
    assert min(steps) < 12 or penalty == 2.0


def test_finished_sequences_are_not_extended_and_unfinished_ones_are_cut():
    tokens, scores, _ = beam_search(Table(GARDEN_PATH), torch.zeros(3, 2, dtype=torch.long), max_len=3, beam_size=4)
    for row in tokens.flatten(0, 1).tolist():
        after_end = row[row.index(2) + 1 :] if 2 in row else []
        assert not any(after_end)
    assert torch.equal(tokens[0], tokens[1]) and scores.isfinite().all()


def recurrent(attention):
    """A model far enough from random that its sequences end."""
    torch.manual_seed(0)
    net = RecurrentSeq2Seq(9, 9, attention=attention, d_embed=8, d_hidden=12)
    torch.nn.init.normal_(net.output.bias, std=0.5)
    net.output.bias.data[2] += 1.0
    return net


def transformer():
    torch.manual_seed(3)
    net = make_transformer(9, 9, num_layers=2, d_model=8, d_ff=12, num_heads=2)
    torch.nn.init.normal_(net.generator.weight, std=0.8)
    return net


@pytest.mark.parametrize(
    "net", [recurrent(True), recurrent(False), transformer()], ids=["attention", "none", "transformer"]
)
def test_one_beam_is_greedy_and_more_are_no_worse(net):
    net.eval()
    source = torch.tensor([[5, 3, 4, 6, 0], [4, 0, 0, 0, 0], [8, 7, 7, 3, 5]])
    greedy = greedy_decode(net, source, max_len=9)
    one = beam_search(net, source, max_len=9, beam_size=1, length_penalty=0.0).best()
    assert torch.equal(one.tokens, greedy.tokens) and not greedy.log_probs.requires_grad
    torch.testing.assert_close(one.log_probs, greedy.log_probs)
    many = beam_search(net, source, max_len=9, beam_size=4, length_penalty=0.0)
    assert (many.log_probs[:, 0] >= greedy.log_probs - 1e-5).all()
    for row, length in enumerate((4, 1, 5)):
        alone = beam_search(net, source[row : row + 1, :length], max_len=9, beam_size=4, length_penalty=0.0)
        torch.testing.assert_close(alone.scores[0], many.scores[row], atol=1e-4, rtol=1e-4)
        assert torch.equal(alone.tokens[0], many.tokens[row, :, : alone.tokens.shape[2]])
        for sequence, log_prob in zip(alone.tokens[0], alone.log_probs[0], strict=True):  # as teacher forcing has it
            ends = (sequence == 2).nonzero().flatten().tolist() or [len(sequence) - 1]
            sequence = sequence[: ends[0] + 1]
            fed = torch.cat((torch.tensor([1]), sequence[:-1]))[None]
            forced = net(source[row : row + 1, :length], fed).log_softmax(-1)[0].gather(-1, sequence[:, None]).sum()
            torch.testing.assert_close(forced, log_prob, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("decode", "changes", "words"),
    [
        (greedy_decode, {"max_len": 0}, "max_len .0."),
        (greedy_decode, {"source": torch.zeros(3).long()}, r"source has shape \(3,\)"),
        (greedy_decode, {"source": torch.zeros(0, 3).long()}, "at least one sequence"),
        (beam_search, {"max_len": 0}, "max_len .0."),
        (beam_search, {"beam_size": 0}, "beam_size .0."),
        (beam_search, {"length_penalty": -1.0}, "length_penalty"),
    ],
)
def test_bad_input_is_named(as_a_user, decode, changes, words):
    with pytest.raises(ValueError, match=words):
        decode(Table(GARDEN_PATH), **{"source": torch.zeros(1, 2).long(), "max_len": 3, **changes})
