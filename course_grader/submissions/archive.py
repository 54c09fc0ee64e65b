"""Reading ZIP files from strangers. Nothing is unpacked to disk, and no name in an archive is used as a path.

Every function here may take long or fail in any way on a file that was made for it: call them through ``bounded``.
"""

import os
import stat
import struct
import zipfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from .notebook import Unreadable

MAX_MEMBERS = 20_000
EXTENDED_TIME = 0x5455  # the field of a member that holds seconds since 1970, UTC
A_DAY = 86_400.0


@dataclass(frozen=True)
class Member:
    """A file in an archive."""

    name: str  # as the archive says
    place: int  # which member it is
    modified: float  # seconds since 1970; the archive's own where the member has no date that can be


def members(path: Path, modified: float) -> list[Member]:
    """The files of an archive of this date (seconds since 1970)."""
    with open_regular(path) as file, zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        if len(infos) > MAX_MEMBERS:
            raise Unreadable(f"a ZIP file of {len(infos)} files; {MAX_MEMBERS} is the most")
        return [
            Member(info.filename, index, _modified(info, modified))
            for index, info in enumerate(infos)
            if not info.is_dir()
        ]


def read_member(path: Path, place: int, most: int) -> bytes:
    """The first ``most`` bytes of a file in an archive."""
    with open_regular(path) as file, zipfile.ZipFile(file) as archive:
        info = archive.infolist()[place]
        if info.flag_bits & 1:
            raise Unreadable("it is encrypted; hand it in without a password")
        with archive.open(info) as member:
            return member.read(most)


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading, and nothing else; a link is not followed, a pipe not waited for."""
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, name, 0)
    file = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise Unreadable("it is not a regular file")
    return file


def _modified(info: zipfile.ZipInfo, own: float) -> float:
    """A member's date. One before 1981 (archives' way to say none) or later than its archive is not believed."""
    try:
        date = _extended(info.extra) or datetime(*info.date_time).timestamp()
    except (ValueError, OverflowError, OSError, struct.error):
        return own
    return date if datetime(1981, 1, 1).timestamp() < date < own + A_DAY else own


def _extended(extra: bytes) -> float | None:
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == EXTENDED_TIME and size >= 5 and extra[4] & 1:
            return float(struct.unpack_from("<i", extra, 5)[0])
        extra = extra[4 + size :]
    return None
