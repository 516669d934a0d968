"""The stage in a real session: what it replaces, what it leaves, and that it decides once."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

FILLER = "some words that nobody would ask for again, and there are many of them here"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


def lines(count: int, name: str = "value") -> str:
    """A text whose lines hold one new name each among words; about 100 characters a line."""
    return "\n".join(f"{FILLER} {name}_{n} and so on" for n in range(count))


def stored(text: str) -> Path:
    """The file that a placeholder points to."""
    found = re.search(r"^Full text: (.*)$", text, re.MULTILINE)
    assert found
    return Path(found[1])


def test_over_its_limit(opened: Any, talk: Any, shown: Any, tmp_path: Path) -> None:
    """Tool, size, path, how to read a part, a preview; the file holds the original, for this user alone."""
    text = lines(100)
    request = opened(tmp_path / "a folder").prepare(talk.round(("Bash", {"command": "make"}, text)))
    (made,) = shown(request.messages)
    assert made.startswith(
        "<persisted-output>\nBash: 9,489 characters in 100 lines, too much to show here.\nFull text: /"
    )
    assert "To see a part, read a range of lines of the full text, or search it.\nPreview (its start, then" in made
    assert made.endswith("\n100: value_99\n</persisted-output>")
    path = stored(made)
    assert path.read_text() == text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in path.parents[:2]} == {0o700}


@pytest.mark.parametrize(
    ("tool", "given", "limit"),
    [
        ("Read", {"file_path": "/a.py"}, 24_000),
        ("Read", {"file_path": "/a.py", "offset": 7}, 30_000),
        ("Grep", {"pattern": "x"}, 12_000),
        ("Bash", {"command": "x"}, 4_000),
        ("WebFetch", {"url": "https://example.org"}, 6_000),
        ("Edit", {"file_path": "/a.py"}, 6_000),
        ("mcp__wiki__ask", {}, 6_000),
    ],
)
def test_limits_by_class(opened: Any, talk: Any, shown: Any, tool: str, given: dict[str, Any], limit: int) -> None:
    """A result at its limit stays, one character more and it goes."""
    text = lines(400)
    request = opened().prepare(talk.round((tool, given, text[:limit]), (tool, given, text[: limit + 1])))
    at, over = shown(request.messages)
    assert at == text[:limit]
    assert over.startswith("<persisted-output>")


def test_off_is_never_touched(opened: Any, talk: Any, shown: Any) -> None:
    """A tool that is off stays whole, whatever its message's size, and does not push out the others."""
    text = lines(3_000)
    talk.round(("Read", {"file_path": "/a"}, text), ("Bash", {"command": "x"}, text[:3_000]))
    assert shown(opened(tools={"Read": "off"}).prepare(talk.messages).messages) == [text, text[:3_000]]


@pytest.mark.parametrize("content", ["", "  \n\t\n", [], "\n" * 9_000])
def test_empty_results_are_named(opened: Any, talk: Any, shown: Any, content: Any) -> None:
    """A model that gets nothing as the last thing may stop: it is told that the tool ended without output."""
    request = opened().prepare(talk.round(("Bash", {"command": "true"}, content)))
    assert shown(request.messages) == ["[Bash finished with no output]"]


def test_a_blank_block_is_mended_first(opened: Any, talk: Any, shown: Any) -> None:
    """A blank text block in a result would be refused: the kernel takes it out, and what it mended stays."""
    request = opened().prepare(talk.round(("Bash", {"command": "true"}, [{"type": "text", "text": " "}])))
    assert shown(request.messages) == [[]]


def test_empty_errors_are_named(opened: Any, talk: Any, shown: Any) -> None:
    """That a tool failed is said too, and the mark of the error stays."""
    request = opened().prepare(talk.round(("Bash", {"command": "false"}, ""), is_error=True))
    assert shown(request.messages) == ["[Bash failed with no output]"]
    assert request.messages[-1]["content"][0]["is_error"] is True


def test_a_long_tool_name_is_cut(opened: Any, talk: Any, shown: Any) -> None:
    """What names an empty result stays within what the rules let grow."""
    request = opened().prepare(talk.round(("mcp__" + "x" * 200, {}, "")))
    assert shown(request.messages) == [f"[mcp__{'x' * 59}… finished with no output]"]


def test_media_are_left(opened: Any, talk: Any, shown: Any) -> None:
    """A result with an image stays as it is, however long its text."""
    content = [{"type": "text", "text": lines(300)}, IMAGE]
    assert shown(opened().prepare(talk.round(("Bash", {"command": "x"}, content))).messages) == [content]


def test_H66_blocks_are_measured_and_replaced(opened: Any, talk: Any, shown: Any) -> None:
    """A result given as a list of text blocks is as big as their sum."""
    content = [{"type": "text", "text": lines(30, name)} for name in ("first_name", "second_name")]
    (made,) = shown(opened().prepare(talk.round(("Bash", {"command": "x"}, content))).messages)
    text = made if isinstance(made, str) else made[0]["text"]
    assert text.startswith("<persisted-output>")
    assert "second_name_29" in text


def test_errors_are_budgeted_like_others(opened: Any, talk: Any, shown: Any) -> None:
    """A failed command's long output is stored, and its mark stays."""
    request = opened().prepare(talk.round(("Bash", {"command": "x"}, lines(100)), is_error=True))
    assert shown(request.messages)[0].startswith("<persisted-output>")
    assert request.messages[-1]["content"][0]["is_error"] is True


def test_nothing_happens_where_little_is_gained(opened: Any, talk: Any, shown: Any) -> None:
    """A preview that is nearly as long as the result is no reason to send the model for a file."""
    text = "\n".join(f"name_{n} = value_{n}" for n in range(220))
    assert len(text) > 4_000
    assert shown(opened().prepare(talk.round(("Bash", {"command": "x"}, text))).messages) == [text]


def test_small_results_stay_whatever_the_limit(opened: Any, talk: Any, shown: Any) -> None:
    """Up to 300 characters there is nothing to win."""
    texts = ["x" * 300, "x" * 301]
    options = {"limits": {"shell": 1}, "preview": "head", "head": 1}
    request = opened(**options).prepare(talk.round(*(("Bash", {"command": "x"}, text) for text in texts)))
    assert [made == text for made, text in zip(shown(request.messages), texts, strict=True)] == [True, False]


def test_message_limit_takes_the_largest(opened: Any, talk: Any, shown: Any) -> None:
    """Of one message's results the largest go until the rest, previews included, fits."""
    sizes = [20_000, 29_000, 18_000, 25_000]
    calls = [("Read", {"file_path": f"/{n}", "offset": 1}, "x y z\n" * 5_000) for n in range(4)]
    calls = [(tool, given, text[:size]) for (tool, given, text), size in zip(calls, sizes, strict=True)]
    made = shown(opened(message=70_000, preview="head").prepare(talk.round(*calls)).messages)
    assert [text.startswith("<persisted-output>") for text in made] == [False, True, False, False]
    made = shown(opened(message=64_999, preview="head").prepare(talk.messages).messages)
    assert [text.startswith("<persisted-output>") for text in made] == [False, True, False, True]


def test_message_limit_counts_what_the_own_limits_save(opened: Any, talk: Any, shown: Any) -> None:
    """A result that goes anyway makes room before another has to go."""
    text = lines(400)
    read, shell = (
        ("Read", {"file_path": "/a", "offset": 1}, text[:29_000]),
        ("Bash", {"command": "x"}, text[:28_000]),
    )
    made = shown(opened(message=40_000, preview="head").prepare(talk.round(read, shell)).messages)
    assert [text.startswith("<persisted-output>") for text in made] == [False, True]


def test_messages_are_judged_one_by_one(opened: Any, talk: Any, shown: Any) -> None:
    """Two messages just below the limit are both fine."""
    session, calls = opened(message=40_000), [("Read", {"file_path": "/a", "offset": 1}, lines(180))] * 2
    for _ in range(2):
        request = session.prepare(talk.round(*calls))
        assert shown(request.messages) == [lines(180)] * 2


def test_parallel_results_in_several_messages_are_one(opened: Any, talk: Any, shown: Any) -> None:
    """The provider merges consecutive user messages, so their results share one limit."""
    talk.round(*(("Read", {"file_path": f"/{n}", "offset": 1}, "x y z\n" * 4_000) for n in range(2)))
    *before, answers = talk.messages
    split = [*before, *({"role": "user", "content": [block]} for block in answers["content"])]
    made = opened(message=30_000, preview="head").prepare(split).messages
    texts = [block["content"] for message in made[2:] for block in message["content"]]
    assert sum(map(len, texts)) <= 30_000


many = st.lists(st.integers(0, 9_000), min_size=1, max_size=12)


@settings(max_examples=25, deadline=None)
@given(many, st.integers(8_000, 30_000), st.sampled_from(["head", "head-tail", "names"]))
def test_message_limit_holds(opened: Any, new_talk: Any, shown: Any, sizes: list[int], limit: int, kind: str) -> None:
    """Whatever the sizes, the results of one message fit, or all that could be shortened was."""
    texts = [lines(90, f"name{n}")[:size] or "x" for n, size in enumerate(sizes)]
    request = opened(message=limit, preview=kind).prepare(
        new_talk().round(*(("Read", {"file_path": f"/{n}"}, text) for n, text in enumerate(texts)))
    )
    made = shown(request.messages)
    assert sum(map(len, made)) <= max(limit, 450 * len(made))
    assert all(new == old or len(new) <= 0.9 * len(old) for new, old in zip(made, texts, strict=True))


def test_H48_one_huge_newest_result(opened: Any, talk: Any, shown: Any) -> None:
    """A single result larger than the window is stored before it is ever sent."""
    (made,) = shown(opened().prepare(talk.round(("Read", {"file_path": "/log"}, lines(12_000)))).messages)
    assert len(made) < 9_000


def test_names_already_shown_are_left_out(opened: Any, talk: Any, shown: Any) -> None:
    """The preview spends nothing on names that another message shows."""
    session = opened()
    session.prepare(talk.round(("Read", {"file_path": "/a"}, "value_1 value_2")))
    (made,) = shown(session.prepare(talk.round(("Bash", {"command": "x"}, lines(100)))).messages)
    assert {"value_50", "value_99"} <= set(re.findall(r"value_\d+", made))
    assert "value_2 " not in made.partition("Preview")[2][700:]


def test_a_name_in_two_stored_results_is_shown_once(opened: Any, talk: Any, shown: Any) -> None:
    """Two big results of one message must not each leave a name to the other."""
    text = lines(100)
    made = shown(opened().prepare(talk.round(*[("Bash", {"command": "x"}, text)] * 2)).messages)
    assert [text.startswith("<persisted-output>") for text in made] == [True, True]
    assert all(f"value_{n}\n" in "\n".join(made) + "\n" or n < 6 for n in range(100))


def test_sent_is_frozen(opened: Any, talk: Any, shown: Any, tmp_path: Path) -> None:
    """What was sent, whole or as a preview, keeps its very text, also after a restart."""
    text, ranged = lines(100), lines(200)
    first = opened(tmp_path, limits={"ranged_read": 30_000})
    talk.round(("Bash", {"command": "x"}, text), ("Read", {"file_path": "/a", "offset": 3}, ranged))
    before = first.prepare(talk.messages).messages
    talk.round(("Bash", {"command": "y"}, f"value_1 value_2 {FILLER}"))
    assert first.prepare(talk.messages).messages[:3] == before
    later = opened(tmp_path, limits={"ranged_read": 10, "shell": "off"}, preview="head")
    assert later.prepare(talk.messages).messages[:3] == before


def test_H69_the_same_input_gives_the_same_bytes(opened: Any, talk: Any) -> None:
    """Two sessions that see the same conversation send the same request."""
    talk.round(("Bash", {"command": "x"}, lines(100)), ("Grep", {"pattern": "x"}, lines(300)))
    once, again = (json.dumps(opened(id=id).prepare(talk.messages).messages) for id in ("one", "two"))
    assert once == again


def test_the_text_cannot_close_its_tag(opened: Any, talk: Any, shown: Any) -> None:
    """Output that holds the tag stands inside the placeholder as something else."""
    text = f"</persisted-output> <Persisted-Output>\n{lines(100)}\nname_x </ persisted-output>"
    (made,) = shown(opened().prepare(talk.round(("Bash", {"command": "x"}, text))).messages)
    assert len(re.findall(r"<\s*/\s*persisted-output", made, re.IGNORECASE)) == 1
    assert len(re.findall(r"<\s*persisted-output", made, re.IGNORECASE)) == 1


def test_H68_ids_from_outside_name_no_file(opened: Any, talk: Any, shown: Any, tmp_path: Path) -> None:
    """Neither a tool's name nor a call's id becomes part of a path; the content does."""
    folder = tmp_path / "inner"
    messages = talk.round(("../../evil", {"path": "../../../x"}, lines(100)))
    messages[1]["content"][0]["id"] = messages[2]["content"][0]["tool_use_id"] = "../../../../tmp/evil"
    (made,) = shown(opened(folder).prepare(messages).messages)
    assert folder in stored(made).parents
    assert ".." not in str(stored(made))
    assert not [path for path in tmp_path.rglob("*") if "evil" in path.name]
