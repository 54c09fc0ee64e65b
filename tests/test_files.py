"""Files that are there whole or as they were."""

import pytest

from course_utils.files import UNFINISHED, replacing, write_whole


def test_a_text_is_written_as_it_is_and_its_folder_made(tmp_path):
    path = tmp_path / "new" / "deep" / "x.txt"
    write_whole(path, "one\r\ntwo \u00e4\n")
    assert path.read_bytes() == b"one\r\ntwo \xc3\xa4\n"
    write_whole(path, "three")
    assert path.read_text() == "three" and [p.name for p in path.parent.iterdir()] == ["x.txt"]
    assert path.stat().st_mode & 0o444 == 0o444


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "x.txt"
    path.write_text("before")

    def interrupted():
        with replacing(path) as unfinished:
            unfinished.write_text("half")
            assert path.read_text() == "before" and unfinished.name.startswith(UNFINISHED)
            raise error

    with pytest.raises(error):
        interrupted()
    assert path.read_text() == "before" and [p.name for p in tmp_path.iterdir()] == ["x.txt"]
