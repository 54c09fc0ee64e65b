"""Whatever lies in the folder: found, read or refused with a reason; never followed, unpacked or believed."""

import os
import socket
import zipfile

import handed_in
import pytest

from course_grader.submissions.find import MAX_FILES, find_submissions
from course_grader.submissions.notebook import Unreadable
from course_grader.submissions.submission import read

STEMS = (handed_in.LESSON_01, "05_masking")


def found(root):
    return [(one.student, one.label, bool(one.problem)) for one in find_submissions(root, STEMS).submissions]


def test_folders_files_and_archives(tmp_path):
    (tmp_path / "ann" / "deep").mkdir(parents=True)
    (tmp_path / "ann" / "05_masking.ipynb").touch()
    (tmp_path / "ann" / "deep" / "x.ipynb").touch()
    (tmp_path / "ann" / ".ipynb_checkpoints").mkdir()
    (tmp_path / "ann" / ".ipynb_checkpoints" / "x.ipynb").touch()
    (tmp_path / "Bob B_123_assignsubmission_file_").mkdir()
    (tmp_path / "Bob B_123_assignsubmission_file_" / "a.ipynb").touch()
    (tmp_path / "doe_12_34_05_masking-1.ipynb").touch()
    (tmp_path / "eve.ipynb").touch()
    (tmp_path / "readme.txt").touch()
    (tmp_path / "none").mkdir()
    with zipfile.ZipFile(tmp_path / "carl.zip", "w") as archive:
        archive.writestr("work/05_masking.ipynb", "{}")
    assert found(tmp_path) == [
        ("Bob B_123", "a.ipynb", False),
        ("ann", "05_masking.ipynb", False),
        ("ann", "deep/x.ipynb", False),
        ("carl", "work/05_masking.ipynb", False),
        ("doe_12_34", "doe_12_34_05_masking-1.ipynb", False),
        ("eve", "eve.ipynb", False),
        ("none", "", True),
    ]


@pytest.mark.parametrize("around", ["", "export/"])
def test_one_archive_of_all(tmp_path, around):
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("ann/05_masking.ipynb", "bob/x.ipynb", "__MACOSX/bob/x.ipynb"):
            archive.writestr(around + name, "{}")
    assert {student for student, *_ in found(path)} == {"ann", "bob"}


def test_no_name_in_an_archive_leads_out(tmp_path):
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("../../x.ipynb", "/etc/y.ipynb", "a/../../z.ipynb"):
            archive.writestr(name, "{}")
    for one in find_submissions(path, STEMS).submissions:
        assert read(one, 1) == b"{}"
    assert os.listdir(tmp_path) == ["all.zip"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
def test_links_folders_pipes_and_sockets_are_refused(tmp_path):
    (tmp_path / "secret").write_text("{}")
    os.symlink(tmp_path / "secret", tmp_path / "a.ipynb")
    (tmp_path / "b.ipynb").mkdir()
    os.mkfifo(tmp_path / "c.ipynb")
    os.symlink(tmp_path, tmp_path / "d")
    (tmp_path / "e").mkdir()
    os.symlink("/", tmp_path / "e" / "root")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "f.ipynb"))
    listener.close()
    problems = {one.student: one.problem for one in find_submissions(tmp_path, STEMS).submissions}
    assert {name: problem.split()[3] for name, problem in problems.items() if name in "abcf"} == {
        "a": "link,", "b": "folder,", "c": "pipe,", "f": "socket,",
    }  # fmt: skip
    assert problems["d"] and problems["e"]
    for one in find_submissions(tmp_path, STEMS).submissions:
        with pytest.raises(Unreadable):
            read(one, 1)


def test_large_files_and_zip_bombs(tmp_path):
    (tmp_path / "big.ipynb").write_bytes(b"x" * 1_100_000)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.ipynb", b"\0" * 50_000_000)
    for one in find_submissions(tmp_path, STEMS).submissions:
        with pytest.raises(Unreadable, match="larger than 1 MiB"):
            read(one, 1)


def test_a_broken_archive(tmp_path):
    path = tmp_path / "ann.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.ipynb", "{}" * 100)
    data = bytearray(path.read_bytes())
    data[40:60] = b"\xff" * 20
    path.write_bytes(data)
    for one in find_submissions(tmp_path, STEMS).submissions:
        with pytest.raises(Unreadable):
            read(one, 1)


def test_nothing_there(tmp_path):
    with pytest.raises(ValueError, match="no such folder or ZIP"):
        find_submissions(tmp_path / "x", STEMS)


def problems(root, **more):
    return {one.student: one.problem for one in find_submissions(root, STEMS, **more).submissions}


def zip_of(path, **files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path.read_bytes()


def test_an_archive_with_dots_before_its_names(tmp_path):
    zip_of(tmp_path / "ann.zip", **{"./": b"", "./05_masking.ipynb": b"{}", "./a/../b/x.ipynb": b"{}"})
    assert found(tmp_path) == [("ann", "05_masking.ipynb", False), ("ann", "a/b/x.ipynb", False)]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
def test_a_pipe_called_like_an_archive_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "ann.zip")
    (tmp_path / "bob").mkdir()
    os.mkfifo(tmp_path / "bob" / "x.zip")
    assert {name: why.split()[3] for name, why in problems(tmp_path).items()} == {"ann": "pipe,", "bob": "pipe,"}


def test_an_archive_in_an_archive_is_read_and_deeper_ones_named(tmp_path):
    inner = zip_of(tmp_path / "z.zip", **{"x.ipynb": b'{"inner": 1}'})
    deeper = zip_of(tmp_path / "z.zip", **{"z.zip": inner})
    zip_of(tmp_path / "ann.zip", **{"one/inner.zip": inner, "two/deeper.zip": deeper, "bad.zip": b"PK"})
    zip_of(tmp_path / "z.zip", **{"bob.zip": deeper})
    everything = find_submissions(tmp_path, STEMS).submissions
    ann = {one.label: one for one in everything if one.student == "ann"}
    assert list(ann) == ["one/inner.zip/x.ipynb", "two/deeper.zip/z.zip", "bad.zip"]
    assert read(ann["one/inner.zip/x.ipynb"], 1) == b'{"inner": 1}'
    assert (
        "inside a ZIP file inside" in ann["two/deeper.zip/z.zip"].problem and "cannot be read" in ann["bad.zip"].problem
    )
    assert [one.problem[:25] for one in everything if one.student == "z"] == ["a ZIP file inside a ZIP f"]
    one_of_all = find_submissions(tmp_path / "z.zip", STEMS).submissions  # the same file as a class: one level more
    assert [(one.student, one.label, one.problem) for one in one_of_all] == [("bob", "bob.zip/z.zip/x.ipynb", "")]


@pytest.mark.parametrize("name", ["x.IPYNB", "x.ipynb.json", "x.ipynb.txt", "x.Ipynb.TXT"])
def test_other_endings_of_notebooks(tmp_path, name):
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / name).write_bytes(b"{}")
    (tmp_path / name).write_bytes(b"{}")
    zip_of(tmp_path / "bob.ZIP", **{name: b"{}"})
    assert found(tmp_path) == [("ann", name, False), ("bob", name, False), ("x", name, False)]


@pytest.mark.parametrize("ending", [".7z", ".rar", ".tar.gz", ".TGZ"])
def test_archives_that_are_not_read_are_named(tmp_path, ending):
    (tmp_path / f"ann{ending}").write_bytes(b"x")
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / f"work{ending}").write_bytes(b"x")
    zip_of(tmp_path / "carl.zip", **{f"work{ending}": b"x"})
    told = problems(tmp_path)
    assert set(told) == {"ann", "bob", "carl"} and all("not read" in why and "ZIP" in why for why in told.values())


def test_a_student_without_a_notebook_has_a_row_with_the_reason(tmp_path):
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "essay.pdf").touch()
    zip_of(tmp_path / "bob.zip")
    zip_of(tmp_path / "carl.zip", **{"a.py": b"", "b.py": b"", "c.py": b"", "d.py": b""})
    zip_of(tmp_path / "z.zip", **{"dora/essay.pdf": b"", "eve/x.ipynb": b"{}"})
    told = problems(tmp_path)
    assert told["ann"].endswith("it holds essay.pdf") and told["bob"].endswith("nor anything else")
    assert told["carl"].endswith("a.py, b.py, c.py and 1 more")
    assert problems(tmp_path / "z.zip")["dora"].endswith("dora/essay.pdf")


def test_loose_files_are_a_students_or_named_as_left_out(tmp_path):
    for name in (
        "readme.txt",
        "ann_05_masking.py",
        "Bob_9_assignsubmission_file_essay.pdf",
        ".hidden",
        "doe_7_12345_a.html",
    ):
        (tmp_path / name).touch()
    everything = find_submissions(tmp_path, STEMS)
    assert {one.student for one in everything.submissions if "not a notebook" in one.problem} == {
        "ann", "Bob_9_assignsubmission_file_essay", "doe_7",
    }  # fmt: skip
    assert [line.split(":")[0] for line in everything.left_out] == ["readme.txt"]


def test_the_output_folder_is_no_student_and_that_is_said(tmp_path):
    for inside in ("grades/feedback", "ann/grades"):
        (tmp_path / inside).mkdir(parents=True)
    (tmp_path / "ann" / "grades" / "x.ipynb").touch()
    (tmp_path / "ann" / "x.ipynb").touch()
    everything = find_submissions(tmp_path, STEMS, tmp_path / "grades")
    assert {one.student for one in everything.submissions} == {"ann"} and "grades" in everything.left_out[0]
    everything = find_submissions(tmp_path, STEMS, tmp_path / "ann" / "grades")
    assert [one.label for one in everything.submissions if one.student == "ann"] == ["x.ipynb"]
    with pytest.raises(ValueError, match="output .* expected another one"):
        find_submissions(tmp_path, STEMS, tmp_path)


def test_one_student_does_not_fill_the_class(tmp_path):
    zip_of(tmp_path / "ann.zip", **{f"{index}.ipynb": b"{}" for index in range(MAX_FILES + 50)})
    submissions = find_submissions(tmp_path, STEMS).submissions
    assert len(submissions) == MAX_FILES + 1 and f"more than {MAX_FILES}" in submissions[-1].problem


def test_a_folder_that_cannot_be_opened_is_its_students_problem(tmp_path, monkeypatch):
    for student in ("ann", "bob"):
        (tmp_path / student).mkdir()
        (tmp_path / student / "x.ipynb").touch()
    scan = os.scandir

    def scandir(path):
        if str(path).endswith("ann"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    told = problems(tmp_path)
    assert "PermissionError" in told["ann"] and told["bob"] == ""


def test_an_archive_of_one_student_is_not_a_folder_around_a_class(tmp_path):
    zip_of(tmp_path / "all.zip", **{"ann/05_masking.ipynb": b"{}", "ann/data/x.csv": b""})
    assert found(tmp_path / "all.zip") == [("ann", "ann/05_masking.ipynb", False)]


def test_names_in_two_ways_of_writing_are_one_student(tmp_path):
    (tmp_path / "Zoe\u0308").mkdir()
    (tmp_path / "Zoe\u0308" / "x.ipynb").touch()
    (tmp_path / "Zo\u00eb_05_masking.ipynb").touch()
    assert {student for student, *_ in found(tmp_path)} == {"Zo\u00eb"}
