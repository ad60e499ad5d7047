"""Who is protected, in words."""

from dpselect.privacy.neighbours import EACH_ROW, METRIC_OF, RELATIONS, protection


def test_every_kind_of_neighbours_has_words() -> None:
    assert RELATIONS.keys() == METRIC_OF.keys()


def test_the_person_who_is_protected_is_named_by_the_column() -> None:
    assert protection("add_remove", "column voter_id") == (
        "one person (column voter_id): one more or one fewer"
    )
    assert protection("change_one", EACH_ROW) == "one person (each row is one): one with other answers"
    assert protection("change_one") == "one person: one with other answers"
