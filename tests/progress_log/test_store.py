"""What is kept stays, whatever happens to the file; and where no person works, nothing is read or written."""

import json
import os
import queue
import subprocess
import sys
import time

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import course_utils
from course_utils import progress_log
from course_utils.progress_log import store

SHOWN = "0-2-run-predict-check-ask-8"  # where lesson 00 shows what a right answer looks like
ASKED = ("How large?", "32", "22.6")


def in_file(path, kind="passed"):
    return json.loads(path.read_text(encoding="utf-8"))[kind]


def test_the_first_and_the_last_time_are_kept(file, monkeypatch):
    for moment in ("2026-03-02T10:00:00+01:00", "2026-03-01T10:00:00+01:00", "2026-03-02T09:30:00+00:00"):
        monkeypatch.setattr(store, "_now", lambda moment=moment: moment)
        progress_log.passed("5.2")
    assert in_file(file) == {"5.2": {"first": "2026-03-01T10:00:00+01:00", "last": "2026-03-02T09:30:00+00:00"}}


def test_the_latest_prediction_is_kept_and_none_where_none_was_made(file):
    progress_log.predicted("4.2", False, *ASKED)
    assert not file.exists()
    progress_log.predicted("4.2", True, "How large?", "7", "not there yet")
    progress_log.predicted("4.2", True, *ASKED)
    kept = in_file(file, "predictions")["4.2"]
    assert (kept.pop("when")[:2], kept) == ("20", dict(zip(("question", "guess", "came_out"), ASKED, strict=True)))


def test_the_file_is_its_owner_s_alone_and_nothing_else_is_left(file):
    progress_log.passed("1.1")
    assert sorted(path.name for path in file.parent.iterdir()) == ["progress.json", "progress.json.lock"]
    if os.name == "posix":
        assert file.parent.stat().st_mode & 0o077 == 0


WRITE = """
import sys
from course_utils.progress_log import store
store._a_person_runs_this = lambda: True
for place in range(10):
    store.passed(f"{sys.argv[1]}.{place}")
assert not store.unwritten()["passed"]
"""


def test_notebooks_that_write_at_the_same_time_lose_nothing(file, root):
    commands = [[sys.executable, "-c", WRITE, str(lesson)] for lesson in range(4)]
    running = [subprocess.Popen(command, cwd=root) for command in commands]
    assert [one.wait() for one in running] == [0] * 4
    assert len(in_file(file)) == 40


def test_a_lock_that_nobody_gives_back_is_not_waited_for_forever(file, monkeypatch):
    monkeypatch.setattr(store, "_lock", lambda handle: False)
    monkeypatch.setattr(store, "PATIENCE_S", 0.1)
    started = time.monotonic()
    progress_log.passed("1.1")
    assert time.monotonic() - started < 5 and "1.1" in in_file(file)


@pytest.mark.parametrize("damage", [b"", b'{"passed": {"1.1"', b"\xff\xfe", b"[1, 2]", b"[" * 100_000])
def test_a_damaged_file_is_set_aside_and_said_so_once(file, damage, capsys):
    file.parent.mkdir()
    file.write_bytes(damage)
    progress_log.passed("1.2")
    progress_log.passed("1.3")
    said = capsys.readouterr().out
    (aside,) = file.parent.glob("progress-damaged-*.json")
    assert said.count("\n") == 1 and "was damaged" in said and str(aside) in said
    assert aside.read_bytes() == damage and set(in_file(file)) == {"1.2", "1.3"}


def test_what_can_be_read_of_a_damaged_file_goes_on(file):
    progress_log.passed("1.1")
    said = json.loads(file.read_text())
    said["passed"] |= {"1.2": {"first": "yesterday", "last": "2026-03-01T10:00:00"}, "1.3": 3}
    said["predictions"] = "?"
    file.write_text(json.dumps(said))
    progress_log.passed("1.4")
    assert set(in_file(file)) == {"1.1", "1.4"} and len(list(file.parent.glob("progress-damaged-*"))) == 1


def test_a_file_of_a_newer_edition_stays_as_it_is(file):
    file.parent.mkdir()
    file.write_text('{"version": 2, "passed": {}, "predictions": {}}')
    progress_log.passed("1.1")
    assert json.loads(file.read_text())["passed"] == {} and [p.name for p in file.parent.glob("*.json")] == [file.name]
    assert "newer edition" in repr(course_utils.progress())


def test_begin_anew_puts_the_file_aside(file):
    progress_log.passed("1.1")
    before = file.read_bytes()
    said = repr(course_utils.progress(begin_anew=True))
    (aside,) = file.parent.glob("progress-until-*.json")
    assert aside.name in said and aside.read_bytes() == before and not file.exists()
    assert "nothing to put aside" in repr(course_utils.progress(begin_anew=True))
    progress_log.passed("1.2")
    assert set(in_file(file)) == {"1.2"}


@pytest.mark.parametrize("word", ["off", " OFF ", "0", "no"])
def test_it_can_be_switched_off(file, monkeypatch, word, tmp_path):
    monkeypatch.setenv(store.VARIABLE, word)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    progress_log.passed("1.1")
    assert list(tmp_path.iterdir()) == [] and store.unwritten() == store._none()
    assert "Nothing is kept: ATTENTION_COURSE_PROGRESS is off." in repr(course_utils.progress())


def test_without_the_variable_it_is_in_the_home_folder(file, monkeypatch, tmp_path):
    monkeypatch.delenv(store.VARIABLE)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    progress_log.passed("1.1")
    assert "1.1" in in_file(tmp_path / ".attention-course" / "progress.json")
    monkeypatch.setenv(store.VARIABLE, str(tmp_path))  # a folder
    progress_log.passed("1.2")
    assert set(in_file(tmp_path / "progress.json")) == {"1.2"}


def test_where_it_cannot_write_the_run_itself_is_shown(file):
    file.parent.write_text("a file where the folder should be")
    progress_log.passed("1.1")
    progress_log.predicted("4.2", True, *ASKED)
    said = repr(course_utils.progress())
    assert "Nothing is kept beyond this run" in said and "1 of 9" in said
    file.parent.unlink()
    course_utils.progress()  # now it can
    assert set(in_file(file)) == {"1.1"} and "Kept in" in repr(course_utils.progress())


def test_in_colab_nothing_is_kept_unless_a_place_is_named(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", sys)
    progress_log.passed("1.1")
    assert "1.1" in in_file(file)
    monkeypatch.delenv(store.VARIABLE)
    progress_log.passed("1.2")
    assert "Colab forgets" in repr(course_utils.progress()) and "2 of 24" not in repr(course_utils.progress())


def test_nothing_that_goes_wrong_reaches_the_check(file, monkeypatch):
    def broken(path):
        raise KeyError("never foreseen")

    monkeypatch.setattr(store, "_read", broken)
    progress_log.passed("1.1")
    assert set(store.unwritten()["passed"]) == {"1.1"}


NOTE = 'from course_utils import progress_log; progress_log.passed("1.1")'


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty home folder, where kernels keep nothing of their own either."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    monkeypatch.delenv(store.VARIABLE, raising=False)
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_the_lesson_s_own_check_is_where_the_test_says(root):
    shown = [c for c in nbformat.read(root / "notebooks" / "00_start_here.ipynb", 4).cells if 'check("0.1"' in c.source]
    assert SHOWN in [cell.id for cell in shown] and all(store.LESSON_CELL.match(cell.id) for cell in shown)


def test_only_a_page_that_names_its_cell_or_passes_a_click_on_is_noted(home):
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        content = {"code": NOTE, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        found = []
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
            found.append((home / ".attention-course").exists())
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert found == [False, False, True]


def test_nbval_notes_nothing(home, tmp_path, root):
    notebook = new_notebook(cells=[new_code_cell(NOTE), new_code_cell("import course_utils\ncourse_utils.progress()")])
    nbformat.write(notebook, tmp_path / "one.ipynb")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval-lax", "--nbval-current-env"]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [*command, "one.ipynb"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert not (home / ".attention-course").exists()


def test_it_needs_no_torch(root):
    code = "import sys, course_utils; course_utils.progress(); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)
