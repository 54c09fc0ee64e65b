"""Whatever lies in the folder: found, read or refused with a reason; never followed, unpacked or believed."""

import json
import os
import socket
import zipfile

import handed_in
import pytest

from course_grader.master import load_masters
from course_grader.submissions.find import Submission, _student_of_file, find_submissions, read
from course_grader.submissions.notebook import Unreadable, lesson_of, parse

STEMS = (handed_in.LESSON_01, "05_masking")


def found(root):
    return [(one.student, one.label, bool(one.problem)) for one in find_submissions(root, STEMS)]


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
    for one in find_submissions(path, STEMS):
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
    problems = {one.student: one.problem for one in find_submissions(tmp_path, STEMS)}
    assert {name: problem.split()[3] for name, problem in problems.items() if name in "abcf"} == {
        "a": "link,", "b": "folder,", "c": "pipe,", "f": "socket,",
    }  # fmt: skip
    assert problems["d"] and problems["e"]
    for one in find_submissions(tmp_path, STEMS):
        with pytest.raises(Unreadable):
            read(one, 1)


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="Windows opens links")
def test_a_file_that_becomes_a_link_after_it_was_found(tmp_path):
    os.symlink("/etc/hostname", tmp_path / "a.ipynb")
    with pytest.raises(Unreadable, match="OSError"):
        read(Submission("a", "a.ipynb", tmp_path / "a.ipynb"), 1)


def test_large_files_and_zip_bombs(tmp_path):
    (tmp_path / "big.ipynb").write_bytes(b"x" * 1_100_000)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.ipynb", b"\0" * 50_000_000)
    for one in find_submissions(tmp_path, STEMS):
        with pytest.raises(Unreadable, match="larger than 1 MiB"):
            read(one, 1)


def test_a_broken_archive(tmp_path):
    path = tmp_path / "ann.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.ipynb", "{}" * 100)
    data = bytearray(path.read_bytes())
    data[40:60] = b"\xff" * 20
    path.write_bytes(data)
    for one in find_submissions(tmp_path, STEMS):
        with pytest.raises(Unreadable):
            read(one, 1)


def test_nothing_there(tmp_path):
    with pytest.raises(ValueError, match="no such folder or ZIP"):
        list(find_submissions(tmp_path / "x", STEMS))


GOOD = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"null", "not a notebook"),
        (b"[1]", "not a notebook"),
        (b'"x"', "not a notebook"),
        (b'{"nbformat": 4, "cells": {}}', "not a notebook"),
        (b'{"nbformat": 4, "cells": [', "not JSON"),
        (b"\xef\xbb\xbf{}", "not a notebook"),
        (b'{"a": "\xe9"}', "not UTF-8"),
        (b"[" * 200_000, "not JSON"),
        (json.dumps(GOOD | {"nbformat": 3}).encode(), "format 3"),
        (json.dumps(GOOD | {"nbformat": 5}).encode(), "format 5"),
        (json.dumps(GOOD | {"nbformat": True}).encode(), "format True"),
        (json.dumps(GOOD | {"nbformat": "4"}).encode(), "format 4"),
        (json.dumps(GOOD | {"cells": [None]}).encode(), "not a cell"),
        (json.dumps(GOOD | {"cells": [{"source": 7}]}).encode(), "not text"),
        (json.dumps(GOOD | {"cells": [{"source": ["a", 7]}]}).encode(), "not text"),
        (json.dumps(GOOD | {"cells": [{}] * 2_001}).encode(), "2001 cells"),
    ],
)
def test_unreadable_files_say_why(data, why):
    with pytest.raises(Unreadable, match=why):
        parse(data)


def test_parts_of_the_wrong_type_are_left_out():
    cell = {"cell_type": ["code"], "id": 7, "source": "x\ud800", "metadata": {"nbgrader": {"grade_id": {}}}}
    (handed,), metadata = parse(json.dumps(GOOD | {"cells": [cell], "metadata": []}).encode())
    assert (handed.kind, handed.text, handed.id, handed.grade_id, metadata) == ("", "x?", "", "", {})


def test_the_lesson_is_found_by_ids_metadata_and_name(root):
    masters = load_masters(root / "exercises")
    cells, metadata = parse(handed_in.as_bytes(handed_in.solved()))
    assert lesson_of(cells, {}, "x", masters) == "01"
    assert lesson_of([], metadata, "x", masters) == "01"
    assert lesson_of([], {}, "my 05_masking (2).ipynb", masters) == "05"
    assert lesson_of([], {}, "x", masters) is None
    assert lesson_of([], {"course": {"built_from": ["x"]}}, "x", masters) is None
    assert lesson_of([], {}, "x", {"05": masters["05"]}) == "05"


def test_names_of_copies():
    assert _student_of_file("ann_05_masking (1).ipynb", STEMS) == "ann"
    assert _student_of_file("05_masking.ipynb", STEMS) == "05_masking"
