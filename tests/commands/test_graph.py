from bot.commands.graph import Node, draw


def lines(*nodes: tuple[str, str | None]) -> list[str]:
    return list(draw([Node(key, parent, key, [key.lower()]) for key, parent in nodes]))


def test_one_on_another() -> None:
    assert lines(("B", "A"), ("A", None)) == ["* B", "| b", "* A", "  a"]


def test_two_on_one() -> None:
    assert lines(("C", "A"), ("B", "A"), ("A", None)) == [
        "* C",
        "| c",
        "| * B",
        "| | b",
        "|/",
        "* A",
        "  a",
    ]


def test_a_line_that_crosses_another() -> None:
    found = lines(("D", "A"), ("C", "B"), ("E", "A"), ("A", None), ("B", None))
    assert found[4:] == ["| | * E", "| | | e", "|_|/", "* | A", "  | a", "* B", "  b"]


def test_lines_that_lead_out_of_what_is_shown() -> None:
    assert lines(("C", "B"), ("Y", "X")) == ["* C", "| c", "| * Y", "| | y"]


def test_marks_beside_the_line() -> None:
    nodes = [
        Node("B", "A", "B"),
        Node("r", None, "rejected", ["why"], mark="x"),
        Node("A", None, "A", mark="o"),
        Node("s", None, "alone", mark="x"),
    ]
    assert list(draw(nodes)) == ["* B", "| x rejected", "|   why", "o A", "x alone"]
