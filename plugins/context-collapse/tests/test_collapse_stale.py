"""`mode: stale-reads`: what a later result supersedes, and what stays."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

STALE = {"mode": "stale-reads"}
TEXT = "\n".join(f"{n}\tdef function_{n}(): return {n}" for n in range(1, 101))
MARK = hashlib.sha256(TEXT.encode()).hexdigest()[:8]


def lines(start: int, end: int, more: str = "") -> str:
    """Some lines of the file as a reading tool shows them."""
    return "\n".join(f"{n}\tdef function_{n}(): return {n}{more}" for n in range(start, end + 1))


def read(talk: Any, text: str = TEXT, path: str = "/src/a.py", **more: Any) -> None:
    """A round with one read."""
    talk.round(("Read", {"file_path": path, **more}, text))


def edit(talk: Any, old: str, path: str = "/src/a.py", **more: Any) -> None:
    """A round with one edit."""
    talk.round(("Edit", {"file_path": path, "old_string": old, "new_string": "x"}, "done"), **more)


def replaced(talk: Any, messages: list[Any]) -> list[int]:
    """Positions of the messages that show something else than was said."""
    return [n for n, (was, now) in enumerate(zip(talk.messages, messages, strict=True)) if was != now]


def test_a_file_read_again(opened: Any, talk: Any) -> None:
    """What it was, how big, its fingerprint, where the newer one is, and the way back; only the newest stays."""
    read(talk)
    read(talk, lines(1, 100, "0"))
    read(talk, lines(1, 100, "1"))
    run = opened(**STALE)
    messages = run(talk)
    assert replaced(talk, messages) == [2, 4]
    shown = messages[2]["content"][0]["content"]
    path = shown.rpartition("This one: ")[2].removesuffix("]")
    assert shown == (
        f"[Superseded: Read /src/a.py: {len(TEXT):,} characters in 100 lines, SHA-256 {MARK}. "
        f"The file was read again later, see the later Read of that path. This one: {path}]"
    )
    assert run.session.ledger.blobs.get(run.session.ledger.blobs.owns(path)).decode() == TEXT


def test_read_again_after_a_change(opened: Any, talk: Any) -> None:
    """That the file was changed between is said."""
    read(talk)
    edit(talk, "def function_7")
    read(talk, lines(1, 100, "0"))
    messages = opened(**STALE)(talk)
    assert replaced(talk, messages) == [2]
    assert "The file was read again later, after it was changed, see the later Read of that path." in str(messages[2])


def test_a_change_after_both_reads(opened: Any, talk: Any) -> None:
    """A change that the newer read does not show yet is no reason to prefer it."""
    read(talk)
    read(talk, lines(1, 100, "0"))
    edit(talk, "def function_7")
    messages = opened(**STALE)(talk)
    assert replaced(talk, messages) == [2]
    assert "after it was changed" not in str(messages)


@pytest.mark.parametrize(
    ("first", "second", "gone"),
    [
        ((10, 60), (10, 60), True),
        ((10, 60), (5, 70), True),
        ((10, 60), (20, 60), False),
        ((10, 60), (10, 59), False),
        ((1, 100), (10, 60), False),
    ],
)
def test_ranges(opened: Any, talk: Any, first: tuple[int, int], second: tuple[int, int], gone: bool) -> None:
    """A read is superseded only by one that shows all of its lines."""
    read(talk, lines(*first), offset=first[0], limit=first[1])
    read(talk, lines(*second, "0"), offset=second[0], limit=second[1])
    assert replaced(talk, opened(**STALE)(talk)) == ([2] if gone else [])


def test_a_whole_read_that_was_cut_covers_what_it_shows(opened: Any, talk: Any) -> None:
    """A reading tool may stop after so many lines: what stands behind is not superseded."""
    read(talk, lines(80, 140), offset=80)
    read(talk, lines(20, 70), offset=20)
    read(talk, lines(1, 100, "0"))
    assert replaced(talk, opened(**STALE)(talk)) == [4]


def test_without_line_numbers(opened: Any, talk: Any) -> None:
    """Where a tool prints none, a part is superseded by the whole or by the same part, not by another part."""
    plain = "def something(): return nothing\n" * 30
    read(talk, plain + "a", offset=5)
    read(talk, plain + "b", offset=90)
    run = opened(**STALE)
    assert replaced(talk, run(talk)) == []
    read(talk, plain + "c", offset=5)
    assert replaced(talk, run(talk)) == [2]
    read(talk)
    assert replaced(talk, run(talk)) == [2, 4, 6]


@pytest.mark.parametrize(
    ("tool", "given", "gone"),
    [
        ("Write", {"file_path": "/src/a.py", "content": "x = 1"}, True),
        ("str_replace_editor", {"command": "create", "path": "/src/a.py", "file_text": "x = 1"}, True),
        ("Write", {"file_path": "/src/b.py", "content": "x = 1"}, False),
        ("str_replace_editor", {"command": "insert", "path": "/src/a.py", "insert_line": 1, "file_text": "x"}, False),
        ("append_file", {"path": "/src/a.py", "content": "x = 1"}, False),
        ("append_file", {"path": "/src/a.py"}, False),
        ("Edit", {"file_path": "/src/a.py"}, False),
    ],
)
def test_written_anew(opened: Any, talk: Any, tool: str, given: dict[str, Any], gone: bool) -> None:
    """A call that holds the whole new content supersedes all reads before it; one that adds to the file does not."""
    read(talk)
    talk.round((tool, given, "done"))
    messages = opened(profile={"tools": {"append_file": "edit"}}, **STALE)(talk)
    assert replaced(talk, messages) == ([2] if gone else [])
    assert ("The file was written anew since, see" in str(messages[2])) == gone


def test_a_failed_write_changes_nothing(opened: Any, talk: Any) -> None:
    """The file is as it was read."""
    read(talk)
    talk.round(("Write", {"file_path": "/src/a.py", "content": "x"}, "no room"), error=True)
    assert replaced(talk, opened(**STALE)(talk)) == []


def test_an_edited_read_stays_while_editing_goes_on(opened: Any, talk: Any) -> None:
    """Its other lines are what exact edits are made of; ten requests after the last edit it is only misleading."""
    run = opened(**STALE)
    read(talk)
    edit(talk, "def function_7(): return 7\n8\tdef")
    assert replaced(talk, run(talk.work(8))) == []
    edit(talk, "def function_9(): return 9")
    assert replaced(talk, run(talk.work(10))) == []
    messages = run(talk.work(1))
    assert replaced(talk, messages) == [2]
    assert (
        "The file was changed since, see the later Edit of that path. Read it again before you rely on its lines."
        in str(messages)
    )


def test_an_edit_elsewhere_in_the_file(opened: Any, talk: Any) -> None:
    """A part of a file that shows nothing of what was replaced is still true."""
    read(talk, lines(1, 50), offset=1)
    edit(talk, "def function_77(): return 77")
    edit(talk, "def function_7(): return 7", error=True)
    assert replaced(talk, opened(**STALE)(talk.work(20))) == []


def test_the_same_text_again(opened: Any, talk: Any) -> None:
    """Of equal results, whatever the tool, only the newest stays: nothing is lost from the view."""
    output = "42 passed, nothing failed\n" * 30
    talk.round(("Bash", {"command": "make test"}, output))
    talk.round(("Bash", {"command": "make lint"}, output + "x"))
    talk.round(("Bash", {"command": "make check\n--all"}, [{"type": "text", "text": output}]))
    messages = opened(**STALE)(talk)
    assert replaced(talk, messages) == [2]
    assert "The same text came again later, see the result of Bash make check --all." in str(messages[2])


def test_what_stays(opened: Any, talk: Any) -> None:
    """Small results, failed reads, and results with media."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    for _ in range(2):
        read(talk, "x" * 300, "/small")
        read(talk, [{"type": "text", "text": TEXT}, image], "/picture")
    talk.round(("Read", {"file_path": "/gone"}, TEXT + "x"), error=True)
    read(talk, TEXT + "y", "/gone")
    assert replaced(talk, opened(**STALE)(talk)) == []


def test_nothing_happens_where_little_is_gained(opened: Any, talk: Any) -> None:
    """Where the line that points is hardly shorter than the result, that stays."""
    run = opened(**STALE)
    read(talk, "x" * 301, "/a" * 40)
    read(talk, "x" * 301, "/a" * 40)
    assert replaced(talk, run(talk)) == []
    assert "context-collapse" not in run.request.report.refused


def test_a_short_answer_supersedes_nothing(opened: Any, talk: Any) -> None:
    """A later read that says it failed, or that nothing changed, is no newer version."""
    read(talk)
    read(talk, "File unchanged since it was last read.")
    talk.round(("Read", {"file_path": "/src/a.py"}, lines(1, 100, "0")), error=True)
    assert replaced(talk, opened(**STALE)(talk)) == []


def test_H18_what_points_must_lead_to_text(opened: Any, talk: Any) -> None:
    """A newer read of which only a preview is shown does not take the older one's place."""
    pytest.importorskip("trimtab_tool_result_budget")
    text = "\n".join(f"{n}\t{'word ' * 20}" for n in range(1, 400))
    read(talk, text)
    read(talk, text)
    limits = {"read": 1_000_000}
    budget = {"limits": limits, "tools": {"View": 400}, "preview": "head", "head": 200}
    stages = [{"tool-result-budget": budget}, {"context-collapse": {"when": "always", "warm": "allow", **STALE}}]
    run = opened(profile={"stages": stages, "tools": {"View": "read"}})
    assert replaced(talk, run(talk)) == [2]
    talk.round(("View", {"file_path": "/src/a.py"}, text))
    messages = run(talk)
    assert replaced(talk, messages) == [2, 6]


def test_H11_nothing_is_replaced_twice(opened: Any, talk: Any) -> None:
    """A placeholder is sent in the same bytes from then on, however often the file is read again or changed."""
    run = opened(**STALE)
    read(talk)
    read(talk, lines(1, 100, "0"))
    first = run(talk)[2]
    for n in range(5):
        read(talk, lines(1, 100, str(n)))
        edit(talk, "def function_7")
        assert run(talk)[2] == first
    newest = len(talk.messages) - 4
    shown = run(talk.work(11))[newest + 1]
    assert "Read it again before" in str(shown)
    read(talk, lines(1, 100, "4"))
    assert run(talk)[newest + 1] == shown


def test_a_warm_cache_is_left_alone(opened: Any, talk: Any) -> None:
    """With `cold` nothing is touched before the cache has lapsed."""
    run = opened(when=["cold"], warm="refuse", **STALE)
    read(talk)
    run(talk)
    read(talk, lines(1, 100, "0"))
    assert replaced(talk, run(talk)) == []
    run.now += 301
    assert replaced(talk, run(talk.work(1))) == [2]


@settings(max_examples=40, deadline=None)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["/a", "/b"]), st.sampled_from(["read", "range", "edit", "write"]), st.integers(1, 80)
        ),
        max_size=11,  # fewer than make an edited read stale
    )
)
def test_the_newest_of_every_line_stays(opened: Any, new_talk: Any, steps: list[tuple[str, str, int]]) -> None:
    """Of each file all lines that reads showed since it was last written are still shown by some read."""
    talk = new_talk()
    known: dict[str, set[int]] = {}
    for version, (path, kind, start) in enumerate(steps):
        if kind == "write":
            talk.round(("Write", {"file_path": path, "content": "new"}, "done"))
            known[path] = set()
        elif kind == "edit":
            edit(talk, "def", path)
        else:
            first, last = (1, 100) if kind == "read" else (start, start + 20)
            more = {} if kind == "read" else {"offset": first}
            read(talk, lines(first, last, f" # {version}"), path, **more)
            known.setdefault(path, set()).update(range(first, last + 1))
    run = opened(**STALE)
    run(talk)
    shown: dict[str, set[int]] = {}
    for result in run.session.view.results:
        if result.tool == "Read" and not result.replaced:
            numbers = (int(line.partition("\t")[0]) for line in result.text.splitlines())
            shown.setdefault(result.path, set()).update(numbers)
    for path, wanted in known.items():
        assert shown.get(path, set()) >= wanted
