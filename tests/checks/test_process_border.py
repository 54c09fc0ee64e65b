"""The line between probe and judge: probes run in a kernel of their own, judges here, and say the same.

Every known answer to every exercise is probed in a separate process, on inputs that are carried into it; what comes back is
JSON and safetensors; the verdict reached from it here must be the one that is reached without a border.
"""

import re

import pytest
from jupyter_client.manager import start_new_kernel

from course_utils.checks.codec import decode, encode, pack, unpack
from course_utils.checks.engine import all_entries
from course_utils.checks.mutants import known_answers, said

SEED = 2
IN_THE_KERNEL = """
from pathlib import Path
from course_utils.checks.codec import decode, pack, unpack
from course_utils.checks.engine import find
from course_utils.checks.mutants import known_answers

def carry(number, folder):
    folder, entry = Path(folder), find(number)
    inputs = decode(unpack((folder / "inputs.json").read_text(), (folder / "inputs.safetensors").read_bytes()))
    for i, (_, answer, _) in enumerate(known_answers(entry)):
        text, data = pack(entry.probe(answer, inputs, guarded=False))
        (folder / f"{i}.json").write_text(text)
        (folder / f"{i}.safetensors").write_bytes(data)
"""


@pytest.fixture(scope="module")
def kernel():
    manager, client = start_new_kernel()
    run(client, IN_THE_KERNEL)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run(client, code):
    reply = client.execute_interactive(code, timeout=120, output_hook=lambda message: None)
    assert reply["content"]["status"] == "ok", reply["content"]


FIRST_OF_ITS_LESSON = re.compile(r"\d+\.1")
NUMBERS = [
    number if FIRST_OF_ITS_LESSON.fullmatch(number) else pytest.param(number, marks=pytest.mark.slow)
    for number in all_entries()
]


@pytest.mark.parametrize("number", NUMBERS)
def test_the_same_verdicts_and_diagnoses_across_the_border(kernel, number, tmp_path):
    entry = all_entries()[number]
    inputs = entry.inputs(SEED)
    text, data = pack(encode(inputs))
    (tmp_path / "inputs.json").write_text(text)
    (tmp_path / "inputs.safetensors").write_bytes(data)
    run(kernel, f"carry({number!r}, {str(tmp_path)!r})")
    judges = [entry.judge_for(cases) for cases in (inputs, decode(unpack(text, data)))]
    for i, (name, answer, wanted) in enumerate(known_answers(entry)):
        carried = unpack((tmp_path / f"{i}.json").read_text(), (tmp_path / f"{i}.safetensors").read_bytes())
        here, there = judges[0](entry.probe(answer, inputs, guarded=False)), judges[1](carried)
        assert (there.passed, there.mistake, there.text()) == (here.passed, here.mistake, here.text()), name
        assert said(here) == wanted, name
