"""ZIP files from strangers: their lists, dates and bytes."""

import os
import struct
import zipfile

import pytest

from course_grader.submissions import archive
from course_grader.submissions.notebook import Unreadable

NOON_2020 = 1_577_880_000.0  # 1 January, 12:00 UTC


def made(path, *infos):
    with zipfile.ZipFile(path, "w") as file:
        for info in infos:
            file.writestr(info, b"{}")
    return path


def test_a_members_date_is_comparable_with_a_files(tmp_path, monkeypatch):
    path = made(tmp_path / "a.zip", zipfile.ZipInfo("x.ipynb", (2020, 1, 1, 12, 0, 0)))
    (member,) = archive.members(path)
    assert abs(member.modified - NOON_2020) <= 86_400  # an archive does not tell the zone
    assert member.modified < path.stat().st_mtime


@pytest.mark.parametrize("date", [(1980, 1, 1, 0, 0, 0), (2107, 12, 31, 23, 59, 58), (2020, 0, 0, 0, 0, 0)])
def test_a_date_that_cannot_be_is_the_archives(tmp_path, date):
    path = made(tmp_path / "a.zip", zipfile.ZipInfo("x.ipynb", date))
    os.utime(path, (NOON_2020, NOON_2020))
    assert [member.modified for member in archive.members(path)] == [NOON_2020]


def test_the_extended_date_is_exact(tmp_path):
    info = zipfile.ZipInfo("x.ipynb", (2019, 1, 1, 0, 0, 0))
    info.extra = struct.pack("<HHI", 0xCAFE, 4, 7) + struct.pack("<HHBi", archive.EXTENDED_TIME, 5, 1, int(NOON_2020))
    (member,) = archive.members(made(tmp_path / "a.zip", info))
    assert member.modified == NOON_2020


def test_folders_are_no_members_and_places_are_exact(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("./", b"")
        file.writestr("x.ipynb", b"first")
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr("x.ipynb", b"second")
    found = archive.members(path)
    assert [archive.read_member(path, member.place, 9) for member in found] == [b"first", b"second"]


def test_what_is_too_much_is_refused(tmp_path, monkeypatch):
    path = made(tmp_path / "a.zip", *(zipfile.ZipInfo(f"{index}.ipynb") for index in range(5)))
    monkeypatch.setattr(archive, "MAX_MEMBERS", 4)
    with pytest.raises(Unreadable, match="5 files; 4 is the most"):
        archive.members(path)
    inner = tmp_path / "b.zip"
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.zip", bytes(2 * archive.MIB))
    monkeypatch.setattr(archive, "INNER_MB", 1)
    with pytest.raises(Unreadable, match="more than 1 MiB"):
        archive.members(inner, (0,))


def test_an_encrypted_member_says_so(tmp_path):
    path = made(tmp_path / "a.zip", zipfile.ZipInfo("x.ipynb"))
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(Unreadable, match="encrypted"):
        archive.read_member(path, (0,), 9)
