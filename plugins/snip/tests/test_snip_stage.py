"""The stage in a real session: what goes, what is shortened, what stays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from trimtab import Hook, Pin, ProfileError, hookimpl
from trimtab.storage.memory import MemoryBlobs

OLD = "\n".join(f"line {n} of the file as it was" for n in range(40))
NEW = OLD.replace("was", "is now")
READ = {"file_path": "/src/a.py"}
OTHER = {"file_path": "/src/b.py"}
TEXT = {"type": "text", "text": "I look at the file."}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "sig"}


def contents(messages: list[Any]) -> list[Any]:
    """The contents of all results, in order."""
    blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


def test_a_round_goes(opened: Any, talk: Any) -> None:
    """A round that is nothing but a call that was made again leaves the view, call and result."""
    talk.round(("Read", READ, OLD))
    talk.round(("Read", READ, NEW))
    assert opened()(talk) == [talk.messages[0], *talk.messages[3:]]


def test_a_file_edited_in_between_misleads(opened: Any, talk: Any) -> None:
    """What was read before an edit goes, the edit stays."""
    talk.round(("Read", READ, OLD))
    talk.round(("Edit", {**READ, "old_string": "was", "new_string": "is now"}, "edited"))
    talk.round(("Read", READ, NEW))
    assert opened()(talk) == [talk.messages[0], *talk.messages[3:]]


def test_thinking_goes_with_its_round(opened: Any, talk: Any) -> None:
    """Thinking about calls that go says nothing alone."""
    talk.round(("Read", READ, OLD), says=[THOUGHT])
    talk.round(("Read", READ, NEW))
    assert len(opened()(talk)) == 3


def test_text_keeps_its_round(opened: Any, talk: Any) -> None:
    """What the model said stays; the result is shortened to what it was, how big, and two ways back."""
    talk.round(("Read", READ, OLD), says=[TEXT])
    talk.round(("Read", READ, NEW))
    run = opened()
    old, new = contents(run(talk))
    assert new == NEW
    pattern = (
        r"\[Read: 1,189 characters in 40 lines\. The same call was made again later, its result stands further down\. "
        r"This older one: (\S+)\]"
    )
    found = re.fullmatch(pattern, old)
    assert found
    assert isinstance(run.session.ledger.blobs, MemoryBlobs)
    assert run.session.view.is_stored(found[1])
    assert run.request.messages[1] == talk.messages[1]


def test_small_results_stay_where_their_round_stays(opened: Any, talk: Any) -> None:
    """Up to 300 characters a line about it saves nothing."""
    for text in ("x y " * 75, "x y " * 75 + "z"):
        talk.round(("Read", READ, text), says=[TEXT])
    talk.round(("Read", READ, NEW), says=[TEXT])
    made = contents(opened()(talk))
    assert [made[0], made[2]] == ["x y " * 75, NEW]
    assert made[1].startswith("[Read: 301 characters in 1 line.")


def test_small_rounds_go(opened: Any, talk: Any) -> None:
    """A whole round costs more than its result, however small that is."""
    talk.round(("Read", READ, "x"))
    talk.round(("Read", READ, "y"))
    assert contents(opened()(talk)) == ["y"]


def test_what_the_user_says_keeps_its_round(opened: Any, talk: Any) -> None:
    """A message of the user that came with the results stays, and so do the results' places."""
    talk.round(("Read", READ, OLD))
    talk.messages[-1]["content"].append({"type": "text", "text": "And hurry."})
    talk.round(("Read", READ, NEW))
    made = opened()(talk)
    assert made[2]["content"][1]["text"] == "And hurry."
    assert contents(made)[0].startswith("[Read: ")


def test_errors(opened: Any, talk: Any) -> None:
    """A failure goes once the call succeeded or failed anew; a success never goes for a failure."""
    talk.round(("Read", READ, "no such file"), error=True)
    talk.round(("Read", READ, OLD))
    talk.round(("Read", READ, "no permission"), error=True)
    talk.round(("Read", READ, "no such file again"), error=True)
    assert contents(opened()(talk)) == [OLD, "no such file again"]


@pytest.mark.parametrize(
    "text",
    ["<returncode>1</returncode>\ncat: a: No such file", "Error: gone", "<error>gone</error>", "cat: a: No such file"],
)
def test_errors_without_a_mark(opened: Any, talk: Any, text: str) -> None:
    """Where the format cannot mark failures, what begins as one is one."""
    talk.round(("Bash", {"command": "cat a"}, OLD))
    talk.round(("Bash", {"command": "cat a"}, text))
    assert contents(opened()(talk)) == [OLD, text]
    talk.round(("Bash", {"command": "cat a"}, NEW))
    assert contents(opened()(talk)) == [NEW]


@pytest.mark.parametrize(
    "text",
    [
        "File unchanged since last read. The content from the earlier Read result in this conversation is current.",
        "[not modified, see the result above]",
        "(already shown)",
    ],
)
def test_answers_that_point_back(opened: Any, talk: Any, text: str) -> None:
    """A tool that refers to its earlier answer needs that one; once the whole is there again, both go."""
    run = opened()
    talk.round(("Read", READ, OLD))
    talk.round(("Read", READ, text))
    assert contents(run(talk)) == [OLD, text]
    talk.round(("Read", READ, NEW))
    assert contents(run(talk)) == [NEW]


def test_media_stay(opened: Any, talk: Any) -> None:
    """A result that holds anything but text stays: an image, or the tools that a search made known."""
    content = [{"type": "text", "text": OLD}, {"type": "image", "source": {"type": "url", "url": "https://x.org/i"}}]
    talk.round(("Read", READ, content))
    talk.round(("Read", READ, NEW))
    assert opened()(talk) == talk.messages


def test_pinned_rounds_stay(opened: Any, talk: Any) -> None:
    """Nothing is proposed for a round that holds a pin, also where another of its results could go."""

    class PinOld(Hook):
        name: ClassVar[str] = "pin-old"

        @hookimpl
        def pre_compact(self, view: Any) -> Iterator[Pin]:
            yield Pin("the one to keep", "asked for")

    talk.round(("Read", READ, "the one to keep\n" + OLD), ("Read", OTHER, OLD))
    talk.round(("Read", {"file_path": "/c"}, OLD))
    talk.round(("Read", READ, NEW), ("Read", OTHER, NEW))
    talk.round(("Read", {"file_path": "/c"}, NEW))
    run = opened(hooks=(PinOld,))
    assert contents(run(talk))[:2] == ["the one to keep\n" + OLD, OLD]
    assert len(run.request.messages) == 7
    assert run.request.report.refused == {}


def test_by_tool(opened: Any, talk: Any) -> None:
    """Of a tool that prints all there is only the last call stays, whatever was asked; of others every call."""
    listing = {"tools": {"TaskList": "search"}}
    for n in range(3):
        talk.round(("TaskList", {"page": n}, f"{OLD} {n}"), says=[TEXT] if n == 1 else [])
        talk.round(("Read", {"file_path": f"/{n}"}, NEW))
    made = contents(opened(profile=listing, by="tool", tools=["TaskList"])(talk))
    assert made[1].startswith("[TaskList: 1,191 characters in 40 lines. The tool was called again later, its ")
    assert [made[0], *made[2:]] == [NEW, NEW, f"{OLD} 2", NEW]
    assert contents(opened(by="tool", tools=["TaskList"])(talk))[0] == f"{OLD} 0", "its class is not a reading one"
    assert len(contents(opened(profile=listing, by="tool")(talk))) == 3, "without a list: every reading tool"


def test_only_these_tools(opened: Any, talk: Any) -> None:
    """Where tools are listed, others are left alone."""
    for _ in range(2):
        talk.round(("Read", READ, OLD))
        talk.round(("Grep", {"pattern": "x"}, OLD))
    assert len(opened(tools=["Grep"])(talk)) == 7
    assert len(opened()(talk)) == 5


def test_what_others_shortened_goes_too(opened: Any, talk: Any) -> None:
    """A result shown as another stage's placeholder is superseded all the same, and never gets longer."""
    pytest.importorskip("trimtab_tool_result_budget")
    stages = ["tool-result-budget", {"snip": {"when": "always", "warm": "allow"}}]
    run = opened(profile={"stages": stages})
    big = "\n".join(f"{OLD} {n}" for n in range(40))
    talk.round(("Read", READ, big))
    run(talk)
    talk.round(("Read", OTHER, big), says=[TEXT])
    assert all(text.startswith("<persisted-output>") for text in contents(run(talk)))
    talk.round(("Read", READ, NEW), ("Read", OTHER, NEW))
    made = contents(run(talk))
    assert [text[:6] for text in made] == ["[Read:", NEW[:6], NEW[:6]]
    assert f"{len(big):,} characters" in made[0]


def test_another_mode_is_an_error(opened: Any) -> None:
    """There are two modes, and the error names them."""
    with pytest.raises(ProfileError, match=r"available: model, redundant"):
        opened(mode="forget")
