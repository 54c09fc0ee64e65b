"""What is kept stays, whatever happens to the file; where no person works, nothing is read or written; the tables."""

import copy
import json
import os
import queue
import re
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import course_utils
from course_utils import progress_log

SHOWN = "0-2-run-predict-check-ask-2"  # where lesson 00 checks an answer of its own
QUESTION = ("How large?", "a <b>", "22.6")
EMPTY = {"passed": {}, "predictions": {}}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty home folder, where kernels keep nothing of their own either."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    monkeypatch.delenv(progress_log.VARIABLE, raising=False)
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def file(home, monkeypatch):
    """Where progress is kept, as if a person ran every cell."""
    monkeypatch.setattr(progress_log, "_a_person_runs_this", lambda: True)
    monkeypatch.setattr(progress_log, "_NOTED", copy.deepcopy(EMPTY))
    return home / ".attention-course" / "progress.json"


@pytest.fixture
def exercises(root):
    return json.loads((root / "course_checks" / "catalogue.json").read_text(encoding="utf-8"))


def in_file(path, kind="passed"):
    return json.loads(path.read_text(encoding="utf-8"))[kind]


def test_the_first_and_the_last_time_are_kept(file, monkeypatch):
    for moment in ("2026-03-02T10:00:00+01:00", "2026-03-01T10:00:00+01:00", "2026-03-02T09:30:00+00:00"):
        monkeypatch.setattr(progress_log, "_now", lambda moment=moment: moment)
        progress_log.passed("5.2")
    assert in_file(file) == {"5.2": {"first": "2026-03-01T10:00:00+01:00", "last": "2026-03-02T09:30:00+00:00"}}


def test_the_latest_prediction_is_kept_in_the_owner_s_own_folder(file):
    progress_log.predicted("4.2", "How large?", "7", "not there yet")
    progress_log.predicted("4.2", *QUESTION)
    entry = in_file(file, "predictions")["4.2"]
    assert (entry.pop("when")[:2], tuple(entry[name] for name in ("question", "guess", "came_out"))) == ("20", QUESTION)
    assert [path.name for path in file.parent.iterdir()] == ["progress.json"]
    if os.name == "posix":
        assert file.parent.stat().st_mode & 0o077 == 0


def test_two_open_notebooks_keep_each_other_s_entries(file):
    progress_log.passed("1.1")
    entry = {"first": "2026-03-01T10:00:00+01:00", "last": "2026-03-01T10:00:00+01:00"}
    progress_log._write(file, {"passed": {"2.1": entry}, "predictions": {}})  # by another kernel, over this one's
    progress_log.predicted("2.1", *QUESTION)
    assert set(in_file(file)) == {"2.1"} and set(in_file(file, "predictions")) == {
        "2.1"
    }  # what is written is not noted


ENTRY = '"first": "2026-03-01T10:00:00+01:00", "last": '


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"passed": {"1.1"',
        b"\xff\xfe",
        b"[1, 2]",
        b"[" * 100_000,
        b'{"version": 1, "passed": 3}',
        f'{{"version": 1, "passed": {{"1.1": {{{ENTRY}"yesterday"}}}}}}'.encode(),
        f'{{"version": 1, "passed": {{"1.1": {{{ENTRY}null}}}}}}'.encode(),
        b'{"version": 1, "predictions": {"1.1": {"when": "2026-03-01T10:00:00"}}}',
        f'{{"version": 1, "passed": {{"1.1": {{{ENTRY}"9999-12-31T23:59:59-09:00"}}}}, "predictions": {{}}}}'.encode(),
    ],
)
def test_a_damaged_file_is_set_aside_and_said_so_once(file, content, capsys):
    file.parent.mkdir()
    file.write_bytes(content)
    progress_log.passed("1.2")
    progress_log.passed("1.3")
    printed = capsys.readouterr().out
    (aside,) = file.parent.glob("progress-damaged-*.json")
    assert printed.count("\n") == 1 and "was damaged" in printed and aside.name in printed
    assert aside.read_bytes() == content and set(in_file(file)) == {"1.2", "1.3"}
    assert "2 of" in repr(course_utils.progress())


def test_what_can_be_read_of_a_damaged_file_stays(file):
    file.parent.mkdir()
    good = f'{{{ENTRY}"2026-03-02T10:00:00+01:00"}}'
    file.write_text(f'{{"version": 1, "passed": {{"5.3": {good}, "5.4": {{}}}}, "predictions": {{}}}}')
    progress_log.passed("1.2")
    assert set(in_file(file)) == {"1.2", "5.3"}


def test_the_file_of_a_newer_edition_stays_as_it_is(file):
    file.parent.mkdir()
    file.write_text('{"version": 2, "badges": []}')
    progress_log.passed("1.2")
    assert "written by a newer edition" in repr(course_utils.progress()) and "1 of" in repr(course_utils.progress())
    assert [path.name for path in file.parent.iterdir()] == [file.name] and "badges" in file.read_text()


def test_starting_over_puts_the_file_aside(file):
    progress_log.passed("1.1")
    before = file.read_bytes()
    message = repr(course_utils.progress(start_over=True))
    (aside,) = file.parent.glob("progress-until-*.json")
    assert aside.name in message and aside.read_bytes() == before and not file.exists()
    assert "nothing to put aside" in repr(course_utils.progress(start_over=True))
    progress_log.passed("1.2")
    assert set(in_file(file)) == {"1.2"}


def test_starting_over_where_nothing_can_be_renamed_forgets_nothing(file, monkeypatch):
    def read_only(path, why):
        raise PermissionError("read-only")

    monkeypatch.setattr(progress_log, "write_whole", read_only)
    progress_log.passed("1.1")
    monkeypatch.setattr(progress_log, "_set_aside", read_only)
    assert "Nothing was put aside: read-only" in repr(course_utils.progress(start_over=True))
    assert set(progress_log._NOTED["passed"]) == {"1.1"}


@pytest.mark.parametrize("word", ["off", " OFF ", "0", "no"])
def test_it_can_be_switched_off(file, home, monkeypatch, word):
    monkeypatch.setenv(progress_log.VARIABLE, word)
    monkeypatch.chdir(home)
    progress_log.passed("1.1")
    assert list(home.iterdir()) == []
    text = repr(course_utils.progress())
    assert text.startswith("No progress yet.") and text.endswith("Nothing is kept: ATTENTION_COURSE_PROGRESS is off.")


def test_the_variable_names_a_file_or_a_folder_and_colab_needs_it(file, home, monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", sys)
    progress_log.passed("1.1")
    assert not file.exists() and "Colab forgets" in repr(course_utils.progress())
    for setting, path, numbers in (
        ("own/file.json", home / "own" / "file.json", {"1.1", "1.2"}),
        (str(home), home / "progress.json", {"1.2"}),
    ):
        monkeypatch.setenv(progress_log.VARIABLE, setting)
        progress_log.passed("1.2")
        assert set(in_file(path)) == numbers


def test_where_it_cannot_write_the_run_and_the_file_are_shown(file, monkeypatch):
    progress_log.passed("1.2")
    with monkeypatch.context() as patch:
        patch.setattr(progress_log, "write_whole", lambda path, text: (path / "below a file").write_text(text))
        progress_log.passed("1.1")
        text = repr(course_utils.progress())
    assert "Nothing is kept beyond this run: ~" in text and "2 of 9" in text
    assert "Kept in ~" in repr(course_utils.progress()) and set(in_file(file)) == {"1.1", "1.2"}  # now it can
    file.unlink()
    file.parent.rmdir()
    file.parent.write_text("a file where the folder should be")
    assert "Nothing is kept beyond this run: ~" in repr(course_utils.progress())


def test_nothing_that_goes_wrong_reaches_the_check(file, monkeypatch):
    def broken(path):
        raise KeyError("never foreseen")

    monkeypatch.setattr(progress_log, "_read", broken)
    progress_log.passed("1.1")
    assert set(progress_log._NOTED["passed"]) == {"1.1"}


# ---------------------------------------------------------------- where no person works

NOTE = 'from course_utils import progress_log; progress_log.passed("1.1")'


def test_the_lesson_s_own_check_is_where_the_test_says(root):
    shown = [c for c in nbformat.read(root / "notebooks" / "00_start_here.ipynb", 4).cells if 'check("0.1"' in c.source]
    assert SHOWN in [cell.id for cell in shown] and all(progress_log.LESSON_CELL.match(cell.id) for cell in shown)


def test_only_a_page_that_names_its_cell_or_passes_a_click_on_is_noted(home):
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        content = {"code": NOTE, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        exists = []
        # as nbclient asks; as JupyterLab does in a lesson that shows a check, and in the exercises
        for metadata in ({}, *({"cellId": cell, "trusted": True} for cell in (SHOWN, "check-1-1"))):
            message = client.session.msg("execute_request", content, metadata=metadata)
            client.shell_channel.send(message)
            while True:
                try:
                    reply = client.get_shell_msg(timeout=120)
                except queue.Empty:
                    pytest.fail("the kernel does not answer")
                if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                    break
            assert reply["content"]["status"] == "ok"
            exists.append((home / ".attention-course").exists())
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert exists == [False, False, True]


def test_nbval_notes_nothing(home, tmp_path, root):
    notebook = new_notebook(cells=[new_code_cell(NOTE), new_code_cell("import course_utils\ncourse_utils.progress()")])
    nbformat.write(notebook, tmp_path / "one.ipynb")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval-lax", "--nbval-current-env"]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    run = subprocess.run(
        [*command, "one.ipynb"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout
    assert not (home / ".attention-course").exists()


def test_where_no_person_works_one_line_is_all_and_torch_is_not_loaded(root):
    code = "import sys, course_utils; print(course_utils.progress()); assert 'torch' not in sys.modules"
    run = subprocess.run([sys.executable, "-c", code], check=True, cwd=root, capture_output=True, text=True)
    assert run.stdout.startswith("No progress yet. Next: 0.3 · ") and run.stdout.count("\n") == 1
    assert run.stdout.endswith("Nothing is kept: only a notebook page that you work in keeps progress.\n")


# ---------------------------------------------------------------- the tables


def line(text, start):
    return next(" ".join(row.split()) for row in text.splitlines() if row.startswith(start))


def test_each_lesson_has_its_sums(file, exercises, monkeypatch):
    monkeypatch.setattr(progress_log, "_now", lambda: "2026-03-01T10:00:00+00:00")
    own = [number for number in exercises if number.startswith("1.")]
    for number in (own[0], own[2], "1.99"):  # the last: an exercise that is no more
        progress_log.passed(number)
    monkeypatch.setattr(progress_log, "_now", lambda: "2026-04-05T23:00:00+00:00")
    progress_log.predicted("4.1", *QUESTION)
    text = repr(course_utils.progress())
    points = [sum(exercises[number]["points"] for number in numbers) for numbers in ((own[0], own[2]), own, exercises)]
    core = [number for number in exercises if exercises[number]["is_core"]]
    passed, of_lesson = len({own[0], own[2]} & set(core)), len(set(own) & set(core))
    expected = f"01 {passed} of {of_lesson} 2 of {len(own)} {points[0]} of {points[1]} 2026-03-01 0"
    assert line(text, "01") == expected
    assert line(text, "04").endswith("2026-04-05 1") and line(text, "12").endswith("– 0")
    sums = f"all {passed} of {len(core)} 2 of {len(exercises)} {points[0]} of {points[2]} 2026-04-05 1"
    assert line(text, "all") == sums
    assert "Kept in ~" in text.splitlines()[-1]


def test_the_next_one_is_of_the_short_path_and_follows_the_last(file, exercises, monkeypatch):
    days = iter(range(1, 29))
    monkeypatch.setattr(progress_log, "_now", lambda: f"2026-03-{next(days):02d}T10:00:00+00:00")
    core = [number for number, exercise in exercises.items() if exercise["is_core"]]

    def said(lesson=None):
        return repr(course_utils.progress(lesson)).splitlines()[-1]

    def passes(numbers):
        for number in numbers:
            monkeypatch.setattr(progress_log, "_now", lambda: "2026-03-30T10:00:00+00:00")
            progress_log.passed(number)

    hours = sum(exercises[number]["minutes"] for number in core) / 60
    whole = f"the short path's {len(core)} exercises that are left take about {hours:.0f} hours"
    assert said().startswith(f"No progress yet. Next: {core[0]} ·") and whole in said()
    for number in ("1.1", "2.1"):  # tasks of the quick tour begin no lesson
        progress_log.passed(number)
    assert said().startswith(f"Next: {core[0]} · ")
    progress_log.passed("5.4")  # more, and not the first lesson
    assert said().startswith("Next: 5.8 · ")
    assert said(4).startswith("Next: 4.1 · ")
    progress_log.passed(core[-1])  # nothing of it follows: what was left out
    assert said().startswith(f"Next: {core[0]} · ")
    passes(core)
    assert "the short path is done: the other" in said() and said().startswith("Next: ")
    passes(exercises)
    assert said().startswith("Every exercise is passed.")


def test_one_lesson_lists_its_exercises_and_predictions(file, exercises):
    progress_log.passed("4.2")
    progress_log.predicted("4.1", *QUESTION)
    shown = course_utils.progress(4)
    assert exercises["4.2"]["title"] in repr(shown) and line(repr(shown), "4.2").split()[-1].startswith("20")
    assert line(repr(shown), "4.3").endswith("–") and line(repr(shown), "4.1  How") == "4.1 How large? a <b> 22.6"
    page = shown._repr_html_()
    assert page.count("<table>") == 2 and "a &lt;b&gt;" in page and "<b>" not in page
    with pytest.raises(ValueError, match="there is no lesson 99: 0, 1, 2"):
        course_utils.progress(99)


def test_the_tasks_of_the_tour_are_those_of_its_page(root):
    page = (root / "sources" / "tour" / "quick_tour.py").read_text(encoding="utf-8")
    assert set(re.findall(r'^check\("([\d.]+)"', page, re.MULTILINE)) == progress_log.TOUR


def test_predictions_of_the_tour_have_a_row(file):
    assert not re.search(r"^tour", repr(course_utils.progress()), re.MULTILINE)
    progress_log.predicted("T.A", *QUESTION)
    progress_log.passed("1.1")
    assert re.search(rf"^tour +1 of {len(progress_log.TOUR)} +1$", repr(course_utils.progress()), re.MULTILINE)
