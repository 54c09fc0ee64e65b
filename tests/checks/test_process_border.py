"""The line between probe and judge: probes run in a kernel of their own, judges here, and say the same.

Answers are probed in a separate process, on inputs that are carried into it; what comes back is JSON and safetensors; the
verdict reached from it here must be the one that is reached without a border.
"""

import pytest
from corpora import answers
from jupyter_client.manager import start_new_kernel

from course_utils.checks.judges.exercise import Quiz
from course_utils.checks.judges.find import all_entries, find
from course_utils.checks.judges.judge import cases_of, judge_for
from course_utils.checks.probes import observe_answer
from course_utils.checks.probes.codec import decode, encode, pack, unpack

SEED = 2
IN_THE_KERNEL = """
import sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from corpora import answers
from course_utils.checks.catalogue import listed
from course_utils.checks.probes import observe_answer
from course_utils.checks.probes.codec import decode, pack, unpack

def carry(number, folder):
    folder = Path(folder)
    inputs = decode(unpack((folder / "inputs.json").read_text(), (folder / "inputs.safetensors").read_bytes()))
    for i, one in enumerate(answers(number, listed(number).answer)):
        text, data = pack(observe_answer(number, one.answer, inputs, guarded=False))
        (folder / f"{{i}}.json").write_text(text)
        (folder / f"{{i}}.safetensors").write_bytes(data)
"""


@pytest.fixture(scope="module")
def kernel(root):
    manager, client = start_new_kernel()
    run(client, IN_THE_KERNEL.format(folder=str(root / "tests" / "checks")))
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run(client, code):
    reply = client.execute_interactive(code, timeout=120, output_hook=lambda message: None)
    assert reply["content"]["status"] == "ok", reply["content"]


NUMBERS = [
    number if number == "6.1" else pytest.param(number, marks=pytest.mark.slow)
    for number, entry in all_entries().items()
    if not isinstance(entry, Quiz)
]


@pytest.mark.parametrize("number", NUMBERS)
def test_the_same_verdicts_and_diagnoses_across_the_border(kernel, number, tmp_path):
    entry = find(number)
    inputs = cases_of(entry, SEED)
    text, data = pack(encode(inputs))
    (tmp_path / "inputs.json").write_text(text)
    (tmp_path / "inputs.safetensors").write_bytes(data)
    run(kernel, f"carry({number!r}, {str(tmp_path)!r})")
    judge = judge_for(entry, inputs)
    for i, one in enumerate(answers(number, entry.answer)):
        carried = unpack((tmp_path / f"{i}.json").read_text(), (tmp_path / f"{i}.safetensors").read_bytes())
        here, there = judge(observe_answer(number, one.answer, inputs, guarded=False)), judge(carried)
        assert (there.passed, there.mistake, there.text()) == (here.passed, here.mistake, here.text()), one.about


def test_the_carried_inputs_are_the_inputs(tmp_path):
    inputs = find("4.2").cases(SEED)
    carried = decode(unpack(*pack(encode(inputs))))
    assert [list(case) for case in carried] == [list(case) for case in inputs]
