"""Anchors: which strings of an answer count."""

from __future__ import annotations

import time

from trimtab.conversation import Block
from trimtab.replay.anchors import candidates, leaves


def found(text: str) -> set[str]:
    """The anchors of an answer in words."""
    return set(candidates([Block("a.0", "text", text=text)]))


def test_paths_that_cannot_be_prose() -> None:
    """A path is rooted, dotted or of three parts; and/or is none, and its last part is no second anchor."""
    text = "see /etc/hosts and src/app/main or lib/core.py, ./run and client/server and/or a/b."
    assert found(text) == {"/etc/hosts", "src/app/main", "lib/core.py"}


def test_addresses_and_dots_are_paths_too() -> None:
    """What stands behind a scheme, and relative paths with their dots."""
    assert found("https://example.org/a/b.html ../lib/x.py ./run/it") == {
        "/example.org/a/b.html",
        "../lib/x.py",
        "./run/it",
    }


def test_unbroken_text_costs_no_time() -> None:
    """A megabyte without a gap, as encoded data is, is looked at once and holds nothing."""
    start = time.perf_counter()
    assert found("x" * 1_000_000 + " " + "é" * 300_000) == set()
    assert time.perf_counter() - start < 2.0


def test_identifiers_need_a_mark() -> None:
    """Six characters and an underscore, a dot, a digit or an inner capital; plain words do not count."""
    assert found("useState max_retries utf8sig json.loads README returns Returns foo_b a.b.c.d") == {
        "useState",
        "max_retries",
        "utf8sig",
        "json.loads",
        "README",
        "a.b.c.d",
    }


def test_numbers_of_four_digits() -> None:
    """Whole numbers of at least four digits, not digits inside a word."""
    assert found("port 8080, 404, 123456 x12345") == {"8080", "123456", "x12345"}


def test_quoted_strings_of_6_to_120_characters() -> None:
    """What stands between quotes counts whole, by the length inside; an apostrophe opens nothing."""
    text = f'''say "over the top" and 'not so' but "short" and "{"x y" * 41}" isn't a wasn't it'''
    assert found(text) == {"over the top", "not so"}


def test_whole_lines_of_an_edits_old_text() -> None:
    """Every line of 20 characters and more that an edit replaces, stripped; other arguments give no lines."""
    call = Block(
        "a.0",
        "tool_use",
        name="MultiEdit",
        input={
            "edits": [
                {
                    "old_string": "    return the value plus one\n  short\n)",
                    "new_string": "say it all the same",
                }
            ]
        },
    )
    assert list(candidates([call])) == ["return the value plus one"]


def test_kinds_take_turns_and_nothing_counts_twice() -> None:
    """No kind can crowd out the others: the first of each comes before the second of any."""
    text = '"one of_it" first_name second_name lib/a.py lib/b.py 1000 2000 first_name'
    assert list(candidates([Block("a.0", "text", text=text)])) == [
        "lib/a.py",
        "first_name",
        "one of_it",
        "1000",
        "lib/b.py",
        "second_name",
        "2000",
    ]


def test_thinking_gives_no_anchors() -> None:
    """What the model only thought is not counted: newer recordings do not hold it."""
    assert list(candidates([Block("a.0", "thinking", text="look at max_retries")])) == []


def test_leaves_of_arguments() -> None:
    """Strings and whole numbers of nested arguments, keys and truth values left out."""
    assert list(leaves({"a": "x", "b": [1200, True, None, {"c": "y"}], "d": 1.5})) == ["x", "1200", "y"]
