"""The task with two questions: what it asks, what the guesser knows, how models are told of positions, the table."""

import pytest
import torch

from course_utils.zoo import places
from course_utils.zoo.runs import read_rows


def test_the_answers_by_looking_for_them():
    tokens, target = places.make_batch(9, 15, torch.Generator().manual_seed(1))
    for row, answers in zip(tokens.tolist(), target.tolist(), strict=True):
        for at, (ago, recent) in enumerate(answers):
            assert ago == (row[at - places.AGO] % places.DIGITS if at >= places.AGO else places.NOT_ASKED)
            same = [t for t in row[:at] if t // places.DIGITS == row[at] // places.DIGITS]
            assert recent == (same[-1] % places.DIGITS if same else places.NOT_ASKED)


def test_the_guesser_is_wrong_as_often_as_another_digit_was_meant():
    tokens, target = places.test_batch(6)
    missed = {0: [], 1: []}
    for row, answers in zip((tokens % places.DIGITS).tolist(), target.tolist(), strict=True):
        for at in range(places.AGO, 6):  # question 1 only: every token before is as likely as another
            missed[0].append(1 - max(row[:at].count(digit) for digit in range(places.DIGITS)) / at)
            assert answers[at][0] != places.NOT_ASKED
    assert places.guesser(6)[0].item() == pytest.approx(sum(missed[0]) / len(missed[0]), abs=1e-5)
    longer = [places.guesser(n) for n in (12, 24)]
    assert (longer[1] > longer[0]).all() and (longer[0] > 0.2).all()


@pytest.mark.parametrize("encoding", places.ENCODINGS)
def test_only_models_with_positions_notice_an_exchange_in_the_past(encoding):
    torch.manual_seed(0)
    model, (tokens, _) = places.Reader(encoding), places.test_batch(7)
    exchanged = tokens[:4, [1, 0, 2, 3, 4, 5, 6]]
    with torch.no_grad():
        change = (model(exchanged) - model(tokens[:4]))[:, -1].abs().max()
    assert (change < 1e-5) == (encoding == "none")


def test_a_run_measures_every_length_and_is_not_made_twice(tmp_path, monkeypatch):
    for name, value in (("SEEDS", (3,)), ("RUNS", [(1, "RoPE"), (2, "none")]), ("LENGTHS", (12, 24))):
        monkeypatch.setattr(places, name, value)
    table = tmp_path / "places.csv"
    assert places.main(["--table", str(table), "--steps", "2"]) == 0
    rows = read_rows(table)
    assert len(rows) == 2 * 2 * 2 and {row["question"] for row in rows} == {"1", "2"}
    assert places.main(["--table", str(table), "--steps", "2"]) == 0 and len(read_rows(table)) == len(rows)


def test_the_shipped_table_is_whole_and_one_layer_without_positions_is_no_better_than_the_guesser():
    rows = read_rows(places.TABLE)
    assert len(rows) == len(places.RUNS) * len(places.SEEDS) * len(places.LENGTHS) * 2
    for row in rows:
        if (row["layers"], row["encoding"]) == ("1", "none"):
            guess = places.guesser(int(row["length"]))[int(row["question"]) - 1].item()
            assert float(row["wrong"]) > guess - 0.02
