"""How an answer is called: by position, without what is the check's own."""

from course_utils.checks.probes.probe import Probe, call_in_order, visible


def test_arguments_go_by_position_and_the_checks_own_stay_away():
    case = {"x": 1, "_seed": 7, "y": 2}
    assert call_in_order(lambda first, second: (first, second), case) == (1, 2)
    assert visible(case) == {"x": 1, "y": 2}


def test_the_ordinary_probe():
    probe = Probe()
    assert (probe.call, probe.expects, probe.off_limits, probe.gradients, probe.again) == (
        call_in_order,
        "function",
        (),
        False,
        True,
    )
