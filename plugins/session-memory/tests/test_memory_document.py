"""The document: what is read from a text, how answers go into it, and how it is kept to a size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab_session_memory.document import HEADINGS, INSTRUCTIONS, fitted, merged, parse, render, shown

WORDS = st.sampled_from(
    [
        *HEADINGS,
        *(f"#{heading}" for heading in HEADINGS),
        "# worklog :",
        "# Other",
        "",
        " ",
        "- done",
        "_x_",
        "```",
        "é🙂",
    ]
)
TEXTS = st.lists(WORDS, max_size=30).map("\n".join)
SECTIONS = TEXTS.map(parse)


def count(text: str) -> float:
    """Tokens, as a model counts them more or less."""
    return len(text.encode()) / 4


def test_the_ten_sections() -> None:
    """Their headings are fixed, and each has one line that says what it is for."""
    names = "Title, Current state, Task specification, Files and functions, Workflow, Errors and corrections, "
    names += "Codebase and system, Learnings, Key results, Worklog"
    assert [f"# {name}" for name in names.split(", ")] == list(HEADINGS)
    assert all(text and "\n" not in text for text in INSTRUCTIONS.values())


def test_the_empty_template_says_nothing() -> None:
    """Instructions are no contents, whatever a model puts around them."""
    assert parse(render({})) == {}
    assert parse(render({}).replace("_", "*")) == {}
    assert [line for line in render({}).splitlines() if line.startswith("# ")] == list(HEADINGS)


def test_what_is_read() -> None:
    """Text before the first heading is left out, headings of other names are text, of any level one counts."""
    assert parse("Here it is:\n## Title:\n\nMend it\n\n### Worklog\n## Other\n## worklog\na  \n\nb\n") == {
        "# Title": "Mend it\n\n### Worklog\n## Other",
        "# Worklog": "a\n\nb",
    }


def test_a_heading_that_comes_twice() -> None:
    """Both texts stay: nothing that was written is lost."""
    assert parse("# Learnings\na\n# Workflow\nb\n# Learnings\nc") == {"# Workflow": "b", "# Learnings": "a\nc"}


def test_what_is_left_out_stays() -> None:
    """An answer replaces the sections that it fills, in the order of the document; an empty one empties nothing."""
    old = {"# Title": "Mend it", "# Learnings": "a"}
    assert list(merged(old, parse("# Worklog\nc\n# Learnings\n\n# Workflow\nb")).items()) == [
        ("# Title", "Mend it"),
        ("# Workflow", "b"),
        ("# Learnings", "a"),
        ("# Worklog", "c"),
    ]


@given(SECTIONS)
def test_reading_undoes_writing(sections: dict[str, str]) -> None:
    """The document says the same when it is read again, whatever stands in it."""
    assert parse(render(sections)) == sections
    assert parse(shown(sections)) == sections


@given(SECTIONS, SECTIONS)
def test_merging_loses_nothing(old: dict[str, str], new: dict[str, str]) -> None:
    """Each section says what the newest text for it says."""
    both = merged(old, new)
    assert both == {**old, **new}
    assert list(both) == [heading for heading in HEADINGS if heading in both]


def test_a_section_too_long() -> None:
    """It is cut at the end of a line and says so; the others stay as they are."""
    text = "\n".join(f"- line {n}" for n in range(100))
    cut = fitted({"# Title": "Mend it", "# Learnings": text}, count, 100, 1_000)
    assert cut["# Title"] == "Mend it"
    *lines, mark = cut["# Learnings"].split("\n")
    assert lines == text.split("\n")[: len(lines)]
    assert mark == f"[{len(text) - len(chr(10).join(lines)):,} characters are left out here: the section was too long]"
    assert 60 < count(cut["# Learnings"]) <= 100


def test_of_the_worklog_the_newest_stays() -> None:
    """It grows at its end: cutting there would stop it for ever."""
    text = "\n".join(f"- step {n}" for n in range(100))
    mark, *lines = fitted({"# Worklog": text}, count, 100, 1_000)["# Worklog"].split("\n")
    assert mark.startswith("[")
    assert lines == text.split("\n")[-len(lines) :]


@pytest.mark.parametrize("heading", ["# Learnings", "# Worklog"])
def test_one_endless_line(heading: str) -> None:
    """Some of it stays, in whole characters."""
    text = "👩‍👩‍👧" * 1_000
    cut = fitted({heading: text}, count, 100, 1_000)[heading]
    assert count(cut) <= 100
    assert "👩‍👩‍👧" in cut
    assert cut.replace("👩‍👩‍👧", "").startswith(("\n[", "["))


def test_all_together() -> None:
    """Where the sum is too large only the longest are cut, to the same size."""
    line = "- something was found here\n"
    sections = {"# Title": line, "# Learnings": line * 60, "# Worklog": line * 80, "# Workflow": line * 10}
    cut = fitted(sections, count, 1_000, 500)
    assert [cut[heading] == sections[heading] for heading in sections] == [True, False, False, True]
    sizes = {heading: count(text) for heading, text in cut.items()}
    assert 400 < sum(sizes.values()) <= 500
    assert abs(sizes["# Learnings"] - sizes["# Worklog"]) < 10


@given(SECTIONS, st.integers(40, 300), st.integers(200, 1_000))
def test_sizes_hold(sections: dict[str, str], each: int, total: int) -> None:
    """Whatever stands in them, every section and all of them fit, and cutting again changes nothing."""
    sections = {heading: text * 50 for heading, text in sections.items()}
    cut = fitted(sections, count, each, total)
    if total > 40 * len(cut):  # below not even the mark fits
        assert all(count(text) <= each for text in cut.values())
        assert sum(map(count, cut.values())) <= total + 1e-9
        assert list(cut) == list(sections)
        assert fitted(cut, count, each, total) == cut
