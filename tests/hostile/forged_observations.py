"""Cells that forge what a probe sends, or look for the answers, in notebooks that are otherwise blank: nothing is earned."""

from pathlib import Path

from course_functions import STEMS
from handed_in import as_bytes, blank, sections, with_cell

# Each defines forged(value, call, cases, guarded); INSTALL puts it in the place of what observes.
INSTALL = """
from sys import modules
import course_checks.running as running
true_observe = running.observe_answer
{forged}
running.observe_answer = running.observe.observe_answer = forged
modules["course_grader.in_sandbox.kernel_side"].observe_answer = forged
"""
TREE = """
import copy, torch
from course_checks.running.encode import encode
def tree(call, cases, make, **more):
    if call.expects == "value":
        return {"answer": "value", "value": encode(make({}))}
    seen = [{"outcome": "returned", "changed": [], "drew": False, "value": encode(make(case)), **more} for case in cases]
    return {"answer": "called", "type": "function", "name": "x", "cases": seen}
def tensors(case):
    return [v for v in case.values() if isinstance(v, torch.Tensor)]
"""
OBSERVATIONS = {
    "the first argument": "tree(call, cases, lambda case: next(iter(case.values()), None))",
    "zeros": "tree(call, cases, lambda case: torch.zeros_like(tensors(case)[0]) if tensors(case) else 0)",
    "no cases": "{'answer': 'called', 'type': 'function', 'name': '', 'cases': []}",
    "a case less": "{**(t := tree(call, cases, lambda case: 0)), 'cases': t.get('cases', [])[1:]}",
    "a thousand cases": "{**(t := tree(call, cases, lambda case: 0)), 'cases': t.get('cases', [])[:1] * 1000}",
    "a verdict": "{**tree(call, cases, lambda case: 0), 'passed': True, 'earned': 99, 'points': 99, 'outcome': 'right'}",
    "every letter": "tree(call, cases, lambda case: ['a', 'b', 'c', 'd'])",
    "the reference": "true_observe(__import__('course_checks.deciding.find', fromlist=['find']).find(NUMBERS[0]).right, call, cases, guarded=False)",
    "raises in every case": "{'answer': 'called', 'type': 'x', 'name': '', 'cases': [{'outcome': 'raised', 'changed': [], 'type': 'ValueError', 'message': ''} for _ in cases]}",
    "gradients of a wrong kind": "tree(call, cases, lambda case: 0, gradients={'kind': 'none'})",
    "a shape without values": "tree(call, cases, lambda case: torch.empty(7, 10**9, device='meta'))",
    "a shape that lies": "(lambda t: [c['value'].update(shape=[1] * 50) for c in t.get('cases', [])] and t or t)(tree(call, cases, lambda case: torch.zeros(1)))",
    "numbers of 3,000 digits": "tree(call, cases, lambda case: 10**3000)",
    "lists as deep as may be": "tree(call, cases, lambda case: [[[[[[[0]]]]]]])",
    "rules kept": "tree(call, cases, lambda case: ('words and their sounds', '10 or more', *['all of them'] * 4, '5 or more', 'differ', 'most'))",
    "batches as they should be": "tree(call, cases, lambda case: ('lists of places', 'none', 'none', 'none', 'none', 'alike', 'not asked', 'about as few as fit', 'mixed', 'other batches', 'other pairs together'))",
    "words found": "tree(call, cases, lambda case: 'words and their sounds')",
    "another exercise's value": "true_observe(lambda *a: a[0], call, cases, guarded=False)",
    "what observes, without its guard": "true_observe(value, call, cases, guarded=False)",
}  # fmt: skip
LOOKING = dict(sections(Path(__file__).with_name("looking_for_answers.txt")))
PREAMBLE = """
import os
def everything():
    for folder, folders, files in os.walk("/"):
        folders[:] = [n for n in folders if n not in ("proc", "sys", "usr", "dev", "torch", "sympy", "scipy", "sklearn")]
        yield from (os.path.join(folder, name) for name in files)
from course_checks.catalogue import catalogue, catalogue_entry
NUMBERS = [n for n, e in catalogue().items() if e.lesson == {lesson}]
"""
EVERYWHERE = ("the reference", "the quizzes' letters")  # in every lesson; the others in one lesson each


def notebooks() -> dict[str, tuple[str, bytes]]:
    """Name -> lesson and file."""
    cells = {
        name: TREE + INSTALL.format(forged=f"def forged(value, call, cases, guarded=True):\n    return {said}")
        for name, said in OBSERVATIONS.items()
    } | LOOKING
    files, lessons = {}, list(STEMS)
    for place, (name, text) in enumerate(cells.items()):
        for lesson in lessons if name in EVERYWHERE else [lessons[place % len(lessons)]]:
            notebook = with_cell(blank(STEMS[lesson]), PREAMBLE.format(lesson=int(lesson)) + text)
            files[f"{lesson}: {name}"] = (lesson, as_bytes(notebook))
    for name, lesson in (("rules kept", "11"), ("batches as they should be", "11"), ("words found", "11")):
        text = PREAMBLE.format(lesson=11) + cells[name]
        files[f"{lesson}: {name}"] = (lesson, as_bytes(with_cell(blank(STEMS[lesson]), text)))
    for name in ("the library's other copy", "compiled files"):
        text = PREAMBLE.format(lesson=1) + cells[name]
        files[f"01: {name}"] = ("01", as_bytes(with_cell(blank(STEMS["01"]), text)))
    return files
