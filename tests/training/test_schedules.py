"""Learning rates against the papers' equations."""

import pytest

from course_utils.training import one_cycle_rate, warmup_rate


def test_warmup_is_the_papers_equation():
    rates = [warmup_rate(step, d_model=512) for step in range(1, 20_001)]
    assert max(rates) == rates[3999] == pytest.approx(512**-0.5 * 4000**-0.5)
    assert rates[0] == pytest.approx(512**-0.5 * 4000**-1.5)
    assert rates[15_999] == pytest.approx(rates[3999] / 2)  # four times the steps, half the rate
    assert rates[1999] == pytest.approx(rates[3999] / 2)  # half way up
    assert warmup_rate(10, 64, warmup=10, factor=2.0) == pytest.approx(2 / 8 / 10**0.5)


def test_one_cycle():
    rates = [one_cycle_rate(step, 100, 0.5) for step in range(1, 121)]
    assert max(rates) == rates[29] == pytest.approx(0.5)
    assert rates[99] == rates[119] == pytest.approx(0.01) and all(rate > 0 for rate in rates)
    assert rates[:30] == sorted(rates[:30]) and rates[29:] == sorted(rates[29:], reverse=True)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: warmup_rate(0, 512), "step .0. must be at least 1"),
        (lambda: warmup_rate(1, 0), "d_model .0."),
        (lambda: one_cycle_rate(0, 10, 1.0), "step .0."),
        (lambda: one_cycle_rate(1, 10, 1.0, rise=1.0), "rise .1.0."),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises(ValueError, match=words):
        call()
