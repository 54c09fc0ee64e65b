"""Whatever lies in the folder: found, read or refused with a reason; never followed, unpacked or believed."""

import json
import os
import socket
import struct
import zipfile

import handed_in
import pytest

from course_grader.submissions import archive
from course_grader.submissions.file_names import looks_handed_in, parts_of, student_of_file, student_of_folder
from course_grader.submissions.find import MAX_FILES, find_submissions
from course_grader.submissions.notebook import Unreadable, parse
from course_grader.submissions.submission import Submission, read

STEMS = (handed_in.LESSON_01, "05_masking")
NOON_2020 = 1_577_880_000.0  # 1 January, 12:00 UTC
unix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")


def files(root):
    return [(file.student, file.label, bool(file.problem)) for file in find_submissions(root, STEMS).submissions]


def problems(root):
    return {file.student: file.problem for file in find_submissions(root, STEMS).submissions}


def touch(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def zip_of(path, members):
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path.read_bytes()


def test_folders_files_and_archives(tmp_path):
    touch(tmp_path, "ann/05_masking.ipynb", "ann/deep/x.ipynb", "ann/.ipynb_checkpoints/x.ipynb")
    touch(
        tmp_path, "Bob B_123_assignsubmission_file_/a.ipynb", "doe_12_34_05_masking-1.ipynb", "eve.ipynb", "readme.txt"
    )
    (tmp_path / "none").mkdir()
    zip_of(tmp_path / "carl.zip", {"work/05_masking.ipynb": "{}"})
    assert files(tmp_path) == [
        ("Bob B_123", "a.ipynb", False),
        ("ann", "05_masking.ipynb", False),
        ("ann", "deep/x.ipynb", False),
        ("carl", "work/05_masking.ipynb", False),
        ("doe_12_34", "doe_12_34_05_masking-1.ipynb", False),
        ("eve", "eve.ipynb", False),
        ("none", "", True),
    ]
    with pytest.raises(ValueError, match="no such folder or ZIP"):
        find_submissions(tmp_path / "x", STEMS)


@pytest.mark.parametrize("around", ["", "export/"])
def test_one_archive_of_all(tmp_path, around):
    names = ("ann/05_masking.ipynb", "bob/x.ipynb", "__MACOSX/bob/x.ipynb")
    zip_of(tmp_path / "all.zip", {around + name: "{}" for name in names})
    assert {student for student, *_ in files(tmp_path / "all.zip")} == {"ann", "bob"}


def test_an_archive_of_one_student_is_not_a_folder_around_a_class(tmp_path):
    zip_of(tmp_path / "all.zip", {"ann/05_masking.ipynb": b"{}", "ann/data/x.csv": b""})
    assert files(tmp_path / "all.zip") == [("ann", "ann/05_masking.ipynb", False)]


def test_no_name_in_an_archive_leads_out(tmp_path):
    zip_of(tmp_path / "all.zip", dict.fromkeys(("../../x.ipynb", "/etc/y.ipynb", "a/../../z.ipynb"), "{}"))
    for file in find_submissions(tmp_path / "all.zip", STEMS).submissions:
        assert read(file, 1) == b"{}"
    assert os.listdir(tmp_path) == ["all.zip"]
    assert parts_of("./../a\\b//c.ipynb") == ("a", "b", "c.ipynb") and parts_of("./") == ()


def test_an_archive_with_dots_before_its_names(tmp_path):
    zip_of(tmp_path / "ann.zip", {"./": b"", "./05_masking.ipynb": b"{}", "./a/../b/x.ipynb": b"{}"})
    assert files(tmp_path) == [("ann", "05_masking.ipynb", False), ("ann", "a/b/x.ipynb", False)]


@unix
def test_links_folders_pipes_and_sockets_are_refused(tmp_path):
    (tmp_path / "secret").write_text("{}")
    os.symlink(tmp_path / "secret", tmp_path / "a.ipynb")
    (tmp_path / "b.ipynb").mkdir()
    os.mkfifo(tmp_path / "c.ipynb")
    os.symlink(tmp_path, tmp_path / "d")
    (tmp_path / "e").mkdir()
    os.symlink("/", tmp_path / "e" / "root")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "f.ipynb"))
    os.mkfifo(tmp_path / "g.zip")  # nothing waits for it
    (tmp_path / "h").mkdir()
    os.mkfifo(tmp_path / "h" / "x.zip")
    reasons = problems(tmp_path)
    kinds = {"a": "link,", "b": "folder,", "c": "pipe,", "f": "socket,", "g": "pipe,", "h": "pipe,"}
    assert {name: reasons[name].split()[3] for name in kinds} == kinds and reasons["d"] and reasons["e"]
    for file in find_submissions(tmp_path, STEMS).submissions:
        with pytest.raises(Unreadable):
            read(file, 1)


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="Windows opens links")
def test_a_file_that_becomes_a_link_after_it_was_found(tmp_path):
    os.symlink("/etc/hostname", tmp_path / "a.ipynb")
    with pytest.raises(Unreadable, match="OSError"):
        read(Submission("a", "a.ipynb", tmp_path / "a.ipynb"), 1)


def test_large_files_zip_bombs_and_broken_archives(tmp_path):
    (tmp_path / "big.ipynb").write_bytes(b"x" * 1_100_000)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.ipynb", b"\0" * 50_000_000)
    for file in find_submissions(tmp_path, STEMS).submissions:
        with pytest.raises(Unreadable, match="larger than 1 MiB"):
            read(file, 1)
    data = bytearray(zip_of(tmp_path / "ann.zip", {"a.ipynb": "{}" * 100}))
    data[40:60] = b"\xff" * 20
    (tmp_path / "ann.zip").write_bytes(data)
    (ann,) = [file for file in find_submissions(tmp_path, STEMS).submissions if file.student == "ann"]
    with pytest.raises(Unreadable):
        read(ann, 1)


def test_an_archive_in_an_archive_is_named(tmp_path):
    inner = zip_of(tmp_path / "z.zip", {"x.ipynb": b"{}"})
    zip_of(tmp_path / "z.zip", {"ann/x.ipynb": b"{}", "bob.zip": inner})
    for root, student in ((tmp_path, "z"), (tmp_path / "z.zip", "bob")):  # a student's file, and the whole class
        inside = [file for file in find_submissions(root, STEMS).submissions if file.label == "bob.zip"]
        assert [file.student for file in inside] == [student] and "unpack the outer one" in inside[0].problem


@pytest.mark.parametrize("name", ["x.IPYNB", "x.ipynb.json", "x.ipynb.txt", "x.Ipynb.TXT"])
def test_other_endings_of_notebooks(tmp_path, name):
    touch(tmp_path, f"ann/{name}", name)
    zip_of(tmp_path / "bob.ZIP", {name: b"{}"})
    assert files(tmp_path) == [("ann", name, False), ("bob", name, False), ("x", name, False)]


@pytest.mark.parametrize("ending", [".7z", ".rar", ".tar.gz", ".TGZ"])
def test_archives_that_are_not_read_are_named(tmp_path, ending):
    touch(tmp_path, f"ann{ending}", f"bob/work{ending}")
    zip_of(tmp_path / "carl.zip", {f"work{ending}": b"x"})
    reasons = problems(tmp_path)
    assert set(reasons) == {"ann", "bob", "carl"} and all(
        "not read" in why and "ZIP" in why for why in reasons.values()
    )


def test_a_student_without_a_notebook_has_a_row_with_the_reason(tmp_path):
    touch(tmp_path, "ann/essay.pdf")
    zip_of(tmp_path / "bob.zip", {})
    zip_of(tmp_path / "carl.zip", dict.fromkeys(("a.py", "b.py", "c.py", "d.py"), b""))
    zip_of(tmp_path / "z.zip", {"dora/essay.pdf": b"", "eve/x.ipynb": b"{}"})
    reasons = problems(tmp_path)
    assert reasons["ann"].endswith("it holds essay.pdf") and reasons["bob"].endswith("nor anything else")
    assert reasons["carl"].endswith("a.py, b.py, c.py and 1 more")
    assert problems(tmp_path / "z.zip")["dora"].endswith("dora/essay.pdf")


def test_loose_files_are_a_students_or_named_as_left_out(tmp_path):
    students = {"ann": "_05_masking.py", "Bob_9": "_assignsubmission_file_essay.pdf", "doe_7": "_12345_a.html"}
    touch(tmp_path, "readme.txt", ".hidden", *(student + rest for student, rest in students.items()))
    everything = find_submissions(tmp_path, STEMS)
    assert {file.student for file in everything.submissions if "not a notebook" in file.problem} == set(students)
    assert [line.split(":")[0] for line in everything.left_out] == ["readme.txt"]
    names = ["05_masking.py", "doe_1_12345_x.pdf", "readme.txt", "05_masking.png"]
    assert [looks_handed_in(name, STEMS) for name in names] == [True, True, False, False]


def test_the_output_folder_is_no_student_and_that_is_said(tmp_path):
    touch(tmp_path, "grades/feedback/x.html", "ann/grades/x.ipynb", "ann/x.ipynb")
    everything = find_submissions(tmp_path, STEMS, tmp_path / "grades")
    assert {file.student for file in everything.submissions} == {"ann"} and "grades" in everything.left_out[0]
    everything = find_submissions(tmp_path, STEMS, tmp_path / "ann" / "grades")
    assert [file.label for file in everything.submissions if file.student == "ann"] == ["x.ipynb"]


def test_one_student_does_not_fill_the_class(tmp_path):
    zip_of(tmp_path / "ann.zip", {f"{index}.ipynb": b"{}" for index in range(MAX_FILES + 50)})
    submissions = find_submissions(tmp_path, STEMS).submissions
    assert len(submissions) == MAX_FILES + 1 and f"more than {MAX_FILES}" in submissions[-1].problem


def test_a_folder_that_cannot_be_opened_is_its_students_problem(tmp_path, monkeypatch):
    touch(tmp_path, "ann/x.ipynb", "bob/x.ipynb")
    scan = os.scandir

    def scandir(path):
        if str(path).endswith("ann"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    reasons = problems(tmp_path)
    assert "PermissionError" in reasons["ann"] and reasons["bob"] == ""


def test_names_in_two_ways_of_writing_are_one_student(tmp_path):
    touch(tmp_path, "Zoe\u0308/x.ipynb", "Zo\u00eb_05_masking.ipynb")
    assert {student for student, *_ in files(tmp_path)} == {"Zo\u00eb"}


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("ann_05_masking (1).ipynb", "ann"),
        ("05_masking.ipynb", "05_masking"),
        ("ann.ipynb.json", "ann"),
        ("ann.tar.gz", "ann"),
        ("doe_1234_567890_05_masking-1.ipynb", "doe_1234"),
        ("doe_LATE_1234_567891_Untitled.ipynb", "doe_1234"),
        ("doe_1234_567890_homework.zip", "doe_1234"),
        ("doe_05_masking.zip", "doe_05_masking"),
        ("Ann Lee_77_assignsubmission_file_", "Ann Lee_77"),
        ("Ann Lee_77_assignsubmission_file_homework_1_2026.zip", "Ann Lee_77"),
    ],
)
def test_who_handed_in_a_file_or_folder(name, student):
    assert (student_of_folder(name) if name.endswith("_") else student_of_file(name, STEMS)) == student


@pytest.mark.parametrize(
    ("date", "modified"),
    [
        ((2020, 1, 1, 12, 0, 0), NOON_2020),
        ((1980, 1, 1, 0, 0, 0), NOON_2020 + 864_000),  # dates that cannot be: the archive's own
        ((2107, 12, 31, 23, 59, 58), NOON_2020 + 864_000),
        ((2020, 0, 0, 0, 0, 0), NOON_2020 + 864_000),
    ],
)
def test_a_members_date_is_comparable_with_a_files(tmp_path, date, modified):
    zip_of(tmp_path / "a.zip", {zipfile.ZipInfo("x.ipynb", date): b"{}"})
    (member,) = archive.members(tmp_path / "a.zip", NOON_2020 + 864_000)
    assert abs(member.modified - modified) <= 86_400  # an archive does not tell the zone


def test_the_extended_date_is_exact(tmp_path):
    info = zipfile.ZipInfo("x.ipynb", (2019, 1, 1, 0, 0, 0))
    info.extra = struct.pack("<HHI", 0xCAFE, 4, 7) + struct.pack("<HHBi", archive.EXTENDED_TIME, 5, 1, int(NOON_2020))
    zip_of(tmp_path / "a.zip", {info: b"{}"})
    assert [member.modified for member in archive.members(tmp_path / "a.zip", 2 * NOON_2020)] == [NOON_2020]


@pytest.mark.parametrize(("place", "believed"), [("ann.zip", False), ("ann/x.zip", False), ("", True)])
def test_a_student_does_not_date_the_own_archive_back(tmp_path, place, believed):
    """Only the archive of a whole class, which the platform made, says when a file was handed in."""
    info = zipfile.ZipInfo("ann/x.ipynb", (2019, 12, 25, 0, 0, 0))
    data = zip_of(tmp_path / "x.zip", {info: b"{}"})
    root = path = tmp_path / "x.zip"
    if place:
        root, path = tmp_path / "class", tmp_path / "class" / place
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    os.utime(path, (NOON_2020,) * 2)
    (file,) = find_submissions(root, STEMS).submissions
    assert (NOON_2020 - file.modified > 86_400) == believed and NOON_2020 - file.saved > 86_400


def test_members_of_one_name_are_told_apart(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("./", b"")
        file.writestr("x.ipynb", b"first")
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr("x.ipynb", b"second")
    assert [archive.read_member(path, member.place, 9) for member in archive.members(path, 0.0)] == [
        b"first",
        b"second",
    ]


def test_what_is_too_much_or_encrypted_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.zip"
    data = bytearray(zip_of(path, {f"{index}.ipynb": b"{}" for index in range(5)}))
    monkeypatch.setattr(archive, "MAX_MEMBERS", 4)
    with pytest.raises(Unreadable, match="5 files; 4 is the most"):
        archive.members(path, 0.0)
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(Unreadable, match="encrypted"):
        archive.read_member(path, 0, 9)


def notebook(**parts):
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []} | parts).encode()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"null", "not a notebook"),
        (b'{"nbformat": 4, "cells": {}}', "not a notebook"),
        (b'{"nbformat": 4, "cells": [', "not JSON"),
        (b"\xef\xbb\xbf{}", "not a notebook"),
        (b'{"a": "\xe9"}', "not UTF-8"),
        (b"[" * 200_000, "not JSON"),
        (notebook(nbformat=3), "format 3"),
        (notebook(nbformat=5), "format 5"),
        (notebook(nbformat=True), "format True"),
        (notebook(nbformat="4"), "format 4"),
        (notebook(cells=[None]), "not a cell"),
        (notebook(cells=[{"source": 7}]), "not text"),
        (notebook(cells=[{}] * 2_001), "2001 cells"),
    ],
)
def test_unreadable_files_say_why(data, why):
    with pytest.raises(Unreadable, match=why):
        parse(data)


def test_parts_of_the_wrong_type_are_left_out():
    cell = {"cell_type": ["code"], "id": 7, "source": "x\ud800", "metadata": {"nbgrader": {"grade_id": {}}}}
    (cell,), metadata = parse(notebook(cells=[cell], metadata=[]))
    assert (cell.kind, cell.text, cell.id, cell.grade_id, metadata) == ("", "x?", "", "", {})
