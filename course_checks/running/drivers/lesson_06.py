"""Lesson 06: how 6.1 is called."""


def split(answer, case):
    """On ``x``, which comes from a transpose where the case says so: its numbers do not lie in order in memory."""
    x = case["x"]
    if case.driver.get("turned"):
        x = x.transpose(1, 2).contiguous().transpose(1, 2)
    return answer(x, case["num_heads"])


def _shown(case):
    return {"x": split(lambda x, num_heads: x, case), "num_heads": case["num_heads"]}


SHOWN = {"split": _shown}
