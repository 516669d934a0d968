"""The `names` preview: what is named, what is known, what fits, in which order."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.texts.lines import pieces
from trimtab.texts.names import names
from trimtab.texts.tokens import tokens

FILLER = "some words that nobody would ask for again, and there are many of them here"


def only_here(name: str) -> int:
    """No other block shows anything."""
    return 1


def body(preview: str) -> list[str]:
    """The lines behind the head."""
    return [line for line in preview.split("\n") if re.match(r"\d+: ", line)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def load_rows(path): pass", ["load_rows"]),
        ("class LedgerStore", ["LedgerStore"]),
        ("plain words, The Start, README", []),
        ("a.b x_y ok1 abc_", ["abc_"]),
        ("see src/core/view.py.", ["src/core/view.py"]),
        ("at https://example.org/a/b_c?q=1", ["https://example.org/a/b_c"]),
        (r"C:\work\app_main.cs", [r"C:\work\app_main.cs"]),
        (r'print("\nDone_now")', ["Done_now"]),
        ("took 0.46 s, 12ms, 3.5x; id 48213", ["48213"]),
        ("3fa9c1e and deadbeef01", ["3fa9c1e", "deadbeef01"]),
        ("re\u0301sume\u0301_v2 plain_one", ["plain_one"]),
        ("x" * 121 + "_1", []),
    ],
)
def test_tokens(text: str, found: list[str]) -> None:
    """Telling identifiers, paths, addresses and long numbers are names; words and figures are not."""
    assert list(tokens(text)) == found


def test_known_names_are_left_out_and_new_ones_kept() -> None:
    """A name that another block shows is not worth a character; one that only this text shows is."""
    lines = [FILLER] * 40
    lines[20] = f"{FILLER} known_name {FILLER}"
    lines[30] = f"{FILLER} fresh_name {FILLER}"
    shown = {"known_name": 2, "fresh_name": 1}
    assert body(names("\n".join(lines), 4_000, 100, lambda name: shown.get(name, 1))) == ["31: fresh_name"]


def test_a_name_stands_once() -> None:
    """The first line that holds a name keeps it; the head counts as showing its names."""
    lines = ["head_name = 1", *[FILLER] * 40, f"{FILLER} twice_seen {FILLER} head_name"]
    lines += [FILLER] * 3 + [f"{FILLER} {FILLER} twice_seen"]
    assert body(names("\n".join(lines), 4_000, 100, only_here)) == ["42: twice_seen"]


def test_a_line_hardly_longer_than_its_names_is_printed_whole() -> None:
    """Whole lines can be used as they are: their indentation is kept."""
    text = "\n".join([FILLER] * 40 + ["    return parse_rows(ledger_path)", f"# {FILLER}: read_rows"])
    assert body(names(text, 4_000, 100, only_here)) == [
        "41:     return parse_rows(ledger_path)",
        "42: read_rows",
    ]


def test_best_names_per_character_first_in_source_order() -> None:
    """Where not all fits, the lines that say most per character stay, in the order of the source."""
    dull = [f"the_only_name_in_this_long_line_number_{n}" for n in range(60)]
    good = [f"ab_{n} cd_{n} ef_{n} gh_{n}" for n in range(10)]
    text = "\n".join([FILLER] * 10 + dull[:30] + good + dull[30:])
    kept = body(names(text, 900, 200, only_here))
    assert [line.partition(": ")[2] for line in kept if "ab_" in line] == good
    assert 0 < sum("dull" in line or "only_name" in line for line in kept) < 60
    numbers = [int(line.partition(":")[0]) for line in kept]
    assert numbers == sorted(numbers)


def test_a_file_as_read_keeps_its_own_numbers() -> None:
    """Where lines carry rising numbers, these are printed, and the prefix is not repeated."""
    text = "\n".join(f"{n:6}→{FILLER} name_{n} {FILLER}" for n in range(400, 440))
    assert body(names(text, 4_000, 100, only_here))[-1] == "439: name_439"


def test_dates_and_clocks_are_not_line_numbers() -> None:
    """A log whose lines start with equal numbers is counted from 1."""
    text = "\n".join(f"2026-11-30 {FILLER} event_{n} {FILLER}" for n in range(40))
    assert body(names(text, 4_000, 100, only_here))[-1] == "40: event_39"


def test_a_search_prints_each_file_once_above_its_lines() -> None:
    """What a search found is grouped by file, with the numbers of the file's lines."""
    found = [f"src/a_{n // 20}.py:{n}:{FILLER} use_{n} {FILLER}" for n in range(60)]
    lines = names("\n".join(found), 4_000, 200, only_here).split("\n")
    assert lines.count("src/a_2.py") == 1
    assert lines[lines.index("src/a_2.py") + 1 :] == [f"{n}: use_{n}" for n in range(40, 60)]


def test_reports_of_failures_are_kept_whole() -> None:
    """A failing test's line stays although the view knows all its names."""
    lines = [f"=== RUN   Test_{n}" for n in range(80)] + [
        "--- FAIL: Test_7 (0.00s)",
        "    app_test.go:31: got 2",
    ]
    kept = body(names("\n".join(lines), 4_000, 200, lambda name: 2))
    assert kept == ["81: --- FAIL: Test_7 (0.00s)", "82:     app_test.go:31: got 2"]


def test_a_failure_in_the_head_stands_once() -> None:
    """What the head shows is not printed again below it."""
    text = "\n".join(["error: no rule to make it", *[FILLER] * 60])
    assert body(names(text, 4_000, 200, only_here)) == []


def test_long_lines_are_judged_by_parts_and_printed_as_one() -> None:
    """Minified data: the names in it are found, on one printed line, cut between words."""
    text = "{" + ", ".join(f'"key_{n}": "{FILLER}"' for n in range(60)) + "}"
    kept = body(names(text, 3_000, 100, only_here))
    assert len(kept) == 1
    assert set(re.findall(r"key_\d+", kept[0])) >= {f"key_{n}" for n in range(10, 60)}
    parts = [piece.text for piece in pieces(text)]
    assert "".join(parts) == text
    assert max(map(len, parts)) <= 240
    assert all(part[-1] in " ,;" for part in parts[:-1])


def test_encoded_data_gives_no_names() -> None:
    """A long stretch without spaces is data: nothing of it but the head is shown."""
    text = "".join(f"aB{n}+/" for n in range(20_000))
    assert names(text, 8_000, 100, only_here) == text[:600]


words = st.one_of(
    st.sampled_from(["plain", "snake_case", "CamelCase", "a/b.py", "error:", "FAILED", "src/x.py:12:", "7→", "\t"]),
    st.text(st.characters(exclude_categories=()), max_size=12),
    st.integers(0, 10**6).map(str),
)
texts = st.lists(st.lists(words, max_size=12).map(" ".join), max_size=60).map("\n".join)


@given(texts, st.integers(1, 2_000), st.integers(1, 60), st.integers(0, 3))
def test_any_text(text: str, size: int, lines: int, others: int) -> None:
    """Size and lines are kept, the same input gives the same text, and nothing is made up."""

    def shown(name: str) -> int:
        return len(name) % 3 * others

    made = names(text, size, lines, shown)
    assert len(made) <= size
    assert made.count("\n") < lines or made.count("\n") == 0
    assert made == names(text, size, lines, shown)
    for chunk in re.sub(r"(?m)^\d+: | … ", " ", made).split():
        assert chunk in text


@pytest.mark.parametrize("unit", ["-", " ", "a", "a.", "/", "\\n", "1:", "x_1 ", "\t\n", "('", "👩\u200d👩", "\ud83d"])
def test_time_is_linear(unit: str) -> None:
    """A megabyte of anything takes a fraction of a second (the bound is generous for slow machines)."""
    text = unit * (1_000_000 // len(unit))
    start = time.perf_counter()
    names(text, 8_000, 2_000, only_here)
    assert time.perf_counter() - start < 2.0
