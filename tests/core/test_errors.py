from daxy.core.errors import UnknownName, WrongFile


def test_an_unknown_name_suggests_the_nearest() -> None:
    error = UnknownName("task", "scan/lenght", ["scan/length", "scan/simple"])
    assert str(error) == "no task named 'scan/lenght'; did you mean scan/length?"


def test_case_does_not_keep_a_name_from_being_suggested() -> None:
    for name in ("SCAN/LENGTH", "Scan/Lenght"):
        error = UnknownName("task", name, ["scan/length", "scan/simple"])
        assert str(error) == f"no task named {name!r}; did you mean scan/length?"
    same = UnknownName("task", "SCAN/length", ["gscan/length", "scan/length"])
    assert same.did_you_mean == ["scan/length"]


def test_a_name_near_nothing_gets_a_short_list() -> None:
    assert str(UnknownName("metric", "x", ["exact"])) == "no metric named 'x'; known: exact"


def test_names_with_numbers_or_commas_are_listed_as_people_would() -> None:
    known = ["G, k = 10", "G, k = 5"]
    assert str(UnknownName("row", "?", known)) == "no row named '?'; known: G, k = 5; G, k = 10"


def test_a_name_near_nothing_gets_the_way_to_a_long_list() -> None:
    known = [f"name{number}" for number in range(20)]
    assert str(UnknownName("task", "?", known)) == "no task named '?'; `daxy tasks` lists all 20"


def test_a_wrong_file_is_named_with_its_line() -> None:
    assert str(WrongFile("a.txt", "blank line", line=3)) == "a.txt:3: blank line"
