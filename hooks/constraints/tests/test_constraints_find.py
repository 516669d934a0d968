"""Which sentences count as standing instructions, measured on three sets, and what of a message the user typed."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from trimtab_constraints import Kind, find
from trimtab_constraints.find import MOST

DATA = Path(__file__).parent / "data"
SETS = ["constraints", "heldout", "coding"]
RULE = "Never push to the main branch."
WORDS = st.sampled_from(
    [
        "never ",
        "do not ",
        "always ",
        "use ",
        "UTC",
        ". ",
        "\n",
        "- ",
        "```\n",
        "<a>",
        "</a>",
        "RULE: ",
        "不要",
        "。",
        "5 ",
        "?",
    ]
)


def data(name: str) -> dict[str, Any]:
    """One of the sets."""
    loaded: dict[str, Any] = yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))
    return loaded


@pytest.mark.parametrize("name", SETS)
def test_recall(name: str) -> None:
    """Of the sentences that are standing instructions at least 98 % are found, and whole."""
    said = [one for kind in data(name)["positives"].values() for one in kind]
    missed = [one for one in said if "".join(found.text for found in find(one)) != one]
    assert len(said) >= 110
    assert len(missed) <= 0.02 * len(said), missed


@pytest.mark.parametrize("name", SETS)
def test_precision(name: str) -> None:
    """Of what only looks like one at most 2 % is found."""
    said = data(name)["negatives"]
    wrong = [one for one in said if find(one)]
    assert len(said) >= 100
    assert len(wrong) <= 0.02 * len(said), wrong


def test_kinds() -> None:
    """Every kind is found, and most sentences as the kind that a reader would give."""
    kinds = {kind: [find(one)[0].kind for one in said] for kind, said in data("constraints")["positives"].items()}
    right = sum(kind == found for kind, all_found in kinds.items() for found in all_found)
    assert {found for all_found in kinds.values() for found in all_found} == set(get_args(Kind))
    assert right >= 0.75 * sum(map(len, kinds.values()))


@pytest.mark.parametrize("text", data("constraints")["under_heading"])
def test_items_under_a_heading(text: str) -> None:
    """List items under "Rules:" count, whatever they say; the heading and what follows the list do not."""
    items = [line[2:].lstrip(" .") for line in text.splitlines() if line[:1] in "-*12" and line]
    assert [found.text for found in find(text)] == items


@given(st.lists(WORDS | st.text(max_size=4), max_size=60).map("".join))
def test_found_is_verbatim(text: str) -> None:
    """Whatever is said, each instruction stands in the text at its place; they come in order and do not overlap."""
    found = find(text)
    assert len(found) <= MOST
    assert all(one.text == text[one.start : one.end] and one.text.strip() == one.text != "" for one in found)
    assert all(one.end <= two.start for one, two in pairwise(found))


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{RULE}\n```",
        f"~~~\n{RULE}",
        f"> {RULE}",
        f"    {RULE}",
        f"<system-reminder>\n{RULE}\n</system-reminder>",
        f"<user_instructions>\n{RULE}\n\n{RULE}\n</user_instructions>",
        f"<command-name>/x</command-name>\n  <command-args>{RULE}</command-args>",
        f"2026-01-01 10:00:00 {RULE}",
        f"[2026-01-01T10:00:00Z] {RULE}",
        f"Traceback (most recent call last):\n{RULE}",
        f"This session is being continued from a previous conversation. {RULE}",
        f"# AGENTS.md instructions for /src\n\n{RULE}",
        f"{RULE}\n(Open file: n/a)\nbash-$",
        f"| {RULE} | x |",
        f"[From a memory file, not from the user. Written 3 days ago.]\n<memory-file>\n{RULE}\n</memory-file>",
        f"[From a memory file, not from the user.]\n{RULE}",
        f"The project's memory file AGENTS.md says (1):\n<memory-file>\n{RULE}\n</memory-file>",
        f'<memory path="notes.md">\n{RULE}',
        f"This file as it is now, put back after the summary: a.md\n<put-back>\n{RULE}\n</put-back>",
        f"[The assistant said:]\n{RULE}",
        f"[A tool returned:]\n{RULE}",
        f"Stop hook feedback:\n- {RULE}",
        f"PostToolUse:Edit hook additional context: {RULE}",
        f"SessionStart hook additional context: {RULE}",
    ],
)
def test_what_was_not_typed_is_skipped(text: str) -> None:
    """Code, quotes, logs, and what harnesses put into the user's messages hold no instructions."""
    assert find(text) == []
    assert [one.text for one in find(RULE)] == [RULE]


@pytest.mark.parametrize(
    "head", ["[The user said:]\n", "[Rules]\n", "<summary>\nold\n</summary>\n", "About the Stop hook: "]
)
def test_a_head_of_the_user_is_none_of_ours(head: str) -> None:
    """Brackets, closed elements and hooks that the user writes about hide nothing behind them."""
    assert len(find(head + RULE)) == 1


def test_beside_what_was_pasted() -> None:
    """Instructions before and behind an element, a fence or a long paste are found."""
    text = (
        f"{RULE}\n<log>\nDo not use this.\n</log>\n```\nnever\n```\n"
        + "plain words\n" * 9_000
        + "Reply in German from now on."
    )
    assert [one.text for one in find(text)] == [RULE, "Reply in German from now on."]


def test_a_document_holds_only_what_says_so() -> None:
    """In a text with headings, labelled rules and what says that it holds on are found, plain orders are not."""
    text = (
        "# Plan\n## Step 1\nDo not touch the parser.\n## Step 2\nSAFETY RULE: keep the lid shut.\nFrom now on use UTC."
    )
    assert [one.text for one in find(text)] == ["SAFETY RULE: keep the lid shut.", "From now on use UTC."]


def test_a_label_takes_its_line() -> None:
    """What follows a label in its line belongs to it; the next line does not."""
    text = "HARD CONSTRAINT: The cap is $5. Ask first.\nThanks."
    assert [one.text for one in find(text)] == ["HARD CONSTRAINT: The cap is $5. Ask first."]


def test_a_list_belongs_to_the_sentence_before_it() -> None:
    """What a rule lists is pinned with it; a sentence that ends with a colon and has no list is no rule."""
    text = "Never touch any of these:\n- setup.cfg\n- tox.ini\nMend the parser."
    assert [one.text for one in find(text)] == [text.rpartition("\n")[0]]
    assert find("Never touch any of these:\nMend the parser.") == []


def test_a_wrapped_line_is_one_sentence() -> None:
    """A sentence that goes on in the next line is found whole."""
    text = "Whatever else I may ask of you in the course of this week, never\npush anything to the main branch."
    assert [one.text for one in find(text)] == [text]


def test_no_more_than_a_few_from_one_message() -> None:
    """A message gives at most so many instructions, the first."""
    assert len(find("\n".join(f"Never touch folder {n}." for n in range(50)))) == MOST


PIECES = [
    "a",
    "never ",
    "<a>\n",
    "if a, ",
    "1,",
    "keep the ",
    "ABC ",
    "不要，",
    "a. ",
    " ",
    "_",
    "\n",
    "如果先不要合并",
]


@pytest.mark.parametrize(
    "text", [*(piece * (100_000 // len(piece)) for piece in PIECES), "“\"`'" * 12_500 + "'`\"”" * 12_500]
)
def test_time_is_linear(text: str) -> None:
    """A text of 100,000 characters takes less than 0.3 seconds (the quicker of two), whatever it repeats."""

    def timed() -> float:
        start = time.perf_counter()
        find(text)
        return time.perf_counter() - start

    assert min(timed(), timed()) < 0.3
