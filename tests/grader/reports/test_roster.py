"""Whose folder is whose: sure, or not at all."""

import pytest

from course_grader.reports.roster import Person, Roster, read_roster

PEOPLE = [
    Person("20231", "wang@x.edu", "王小明", user="xwang"),
    Person("20232", "ann@x.edu", "Ann Lee", user="annlee"),
    Person("20233", "j.nunez@x.edu", "José Núñez", user="jnunez", participant="55123"),
    Person("20234", "li1@x.edu", "Li Wei", user="liwei1"),
    Person("20235", "li2@x.edu", "Li Wei", user="liwei2"),
    Person("77", "", "Charlotte von Hohenlohe"),
]
CANVAS = [Person(id="4411", sis="s-1", name="Jane Doe", user="jdoe", section="A"), Person(id="4412", name="Jo Doe")]


@pytest.mark.parametrize(
    ("folder", "person"),
    [
        ("20231", 0),
        ("ann@x.edu", 1),
        ("annlee", 1),
        ("王小明", 0),
        ("ANN  LEE", 1),
        ("Lee, Ann", 1),
        ("Jose Nunez", 2),
        ("nunez_jose", 2),
        ("von Hohenlohe Charlotte", 5),
        ("王小明_9123_assignsubmission_file_", 0),  # Moodle; the number is its own
        ("Ann Lee_9124", 1),
        ("Somebody_55123", 2),  # the number of a worksheet from Moodle
        ("leeann_9125_88001", 1),  # Canvas
        ("leeann_LATE_9125_88001", 1),
        ("Li Wei_20235", 4),  # two of that name; the id tells
    ],
)
def test_found(folder, person):
    assert Roster(PEOPLE).find(folder) == (PEOPLE[person], "")


@pytest.mark.parametrize(
    "folder",
    ["Zoe", "Zoe_20232", "Ann Lee Smith", "homework 77", "zoe_20232_88001", "", "_", "Lee Zoe_1", "20239", "ann"],
)
def test_not_on_the_roster(folder):
    match, why = Roster(PEOPLE).find(folder)
    assert match is None and why == "not on the roster"


@pytest.mark.parametrize("folder", ["Li Wei", "weili_1_2", "Li Wei_9126_assignsubmission_file_", "Ann Lee_55123"])
def test_never_a_guess_between_two(folder):
    match, why = Roster(PEOPLE).find(folder)
    assert match is None and "fits 2 students of the roster" in why


def test_the_numbers_of_canvas_count_where_the_roster_is_from_canvas():
    roster = Roster(CANVAS)
    assert roster.find("whoever_4412_9")[0] == CANVAS[1] and roster.find("whoever_9_4412")[0] is None
    assert roster.find("doejane_4412_9")[0] is None  # name and number disagree


def write(tmp_path, text):
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_rosters_of_several_origins(tmp_path):
    own = read_roster(write(tmp_path, "学号;姓名;邮箱\n1;王小明;w@x.edu\n"))
    assert own == (Person("1", "w@x.edu", "王小明"),)
    canvas = 'Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"Doe, Jane",4411,s-1,jdoe,A\n'
    (jane,) = read_roster(write(tmp_path, canvas))
    assert (jane.name, jane.first, jane.last, jane.sis, jane.user) == ("Jane Doe", "Jane", "Doe", "s-1", "jdoe")
    participants = 'First name,Surname,ID number,Email address,Groups\nAnn,Lee,7,ann@x.edu,"A, Tuesday"\n'
    (ann,) = read_roster(write(tmp_path, participants))
    assert (ann.name, ann.id, ann.email, ann.groups) == ("Ann Lee", "7", "ann@x.edu", ["A", "Tuesday"])
    (jose,) = read_roster(write(tmp_path, "Identifier,Full name,Email address\nParticipant 55123,José Núñez,j@x.edu\n"))
    assert (jose.participant, jose.name) == ("55123", "José Núñez")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "its header is empty; expected a header with"),
        ("color\nred\n", "its header is color; expected a header with"),
        ("id,name\n", "no student in it"),
        ("id,name,group\n1,a,\n,,b\n", "line 3: no id, e-mail, name or user name"),
        ("id,name\n1,a\n2,b\n1,c\n", "line 4: 1 stands in line 2 too"),
        ("email\na@x.edu\nA@x.edu\n", "line 3: a@x.edu stands in line 2 too"),
    ],
)
def test_what_is_no_roster(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_roster(write(tmp_path, text))
