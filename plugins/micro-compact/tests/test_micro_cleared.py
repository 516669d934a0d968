"""``form: cleared``: what goes, what stays, and what is said of it."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest
from play import LONG, says, user
from stages import Budget, KeepWords

CLEARED = "[Old tool result content cleared] "


def png(width: int, height: int) -> dict[str, Any]:
    """An image that says its size."""
    data = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", width, height) + b"\x08\x02"
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(data).decode()},
    }


BIG, ICON = png(1_280, 720), png(64, 64)


@pytest.mark.parametrize(
    ("tool", "given", "back"),
    [
        ("Read", {"file_path": "/a.py"}, "To see it, call Read again."),
        ("Read", {"file_path": "/a.py", "offset": 7}, "To see it, call Read again."),
        ("Grep", {"pattern": "x"}, "To see it, call Grep again."),
        ("Bash", {"command": "make"}, ""),
        ("WebFetch", {"url": "https://example.org"}, ""),
        ("Edit", {"file_path": "/a.py"}, ""),
    ],
)
def test_the_way_back(
    opened: Any, talk: Any, contents: Any, stored: Any, tool: str, given: dict[str, Any], back: str
) -> None:
    """What changes nothing can be called again; of all else the full text lies where the placeholder says."""
    agent = opened("cleared", keep=0)
    talk.round((tool, given, LONG))
    (text,) = contents(agent.send(talk.rounds(1)))
    assert text.startswith(f"{CLEARED}{tool}: 2,560 characters in 1 line. {back}")
    assert bool(back) or stored(agent, text) == LONG


def test_a_failed_read_is_not_called_again(opened: Any, talk: Any, contents: Any, stored: Any) -> None:
    """What failed may fail again: its text is had by its path, and the mark of the error stays."""
    agent = opened("cleared", keep=0)
    talk.round(("Read", {"file_path": "/a"}, LONG), is_error=True)
    request = agent.send(talk.rounds(1))
    (text,) = contents(request)
    assert text.startswith(f"{CLEARED}Read failed: 2,560 characters")
    assert stored(agent, text) == LONG
    assert request.messages[2]["content"][0]["is_error"] is True


def test_the_newest_stay(opened: Any, talk: Any, contents: Any) -> None:
    """Five results of tools whose results go stay by default; results of other tools do not count."""
    for n in range(8):
        talk.round(("Read", {"file_path": f"/{n}"}, LONG))
    made = contents(opened("cleared").send(talk.rounds(9)))
    assert [text == LONG for text in made] == [False] * 3 + [True] * 5


def test_what_was_not_sent_stays(opened: Any, talk: Any, contents: Any) -> None:
    """Nobody has seen it yet: more parallel results than ``keep`` all come through, also without a `when`."""
    talk.round(*[("Read", {"file_path": f"/{n}"}, LONG) for n in range(8)])
    assert contents(opened("cleared", keep=0, when=[]).send(talk.messages)) == [LONG] * 8


def test_classes_and_tools(opened: Any, talk: Any, contents: Any) -> None:
    """Unknown tools keep theirs by default; a tool's name goes before its class."""
    for tool in ("Task", "Grep", "Bash", "mcp__x"):
        talk.round((tool, {"command": "x"}, LONG))
    talk.rounds(1)

    def stay(**options: Any) -> list[bool]:
        return [text == LONG for text in contents(opened("cleared", keep=0, **options).send(talk.messages))]

    assert stay() == [True, False, False, True]
    assert stay(classes=["other"]) == [False, True, True, False]
    assert stay(tools={"Task": "clear", "Bash": "keep"}) == [False, False, True, True]


def test_small_results_and_short_errors_stay(opened: Any, talk: Any, contents: Any) -> None:
    """There is nothing to win below 300 characters, and a short error says what not to try again."""
    sizes = [("Bash", {"command": "x"}, LONG[:size]) for size in (300, 301, 1_000, 1_001)]
    for error in (False, True):
        for one in sizes:
            talk.round(one, is_error=error)
    made = contents(opened("cleared", keep=0).send(talk.rounds(1)))
    assert [text.startswith(CLEARED) for text in made] == [False, True, True, True, False, False, False, True]


def test_calls_keep_their_inputs(opened: Any, talk: Any) -> None:
    """Whatever its result, a call stays as it was made."""
    talk.round(("Write", {"file_path": "/a.py", "content": LONG}, LONG))
    messages = talk.rounds(1)
    request = opened("cleared", keep=0).send(messages)
    assert request.messages[1] is messages[1]
    assert request.messages[2] is not messages[2]


def test_pinned_results_stay(opened: Any, talk: Any, contents: Any) -> None:
    """The kernel refuses, and the others go all the same."""
    agent = opened("cleared", (KeepWords,), {"hooks": [{"keep-words": {"words": "never push", "whole": True}}]}, keep=0)
    for text in (LONG, f"{LONG} never push", LONG):
        talk.round(("Bash", {"command": "x"}, text))
    made = contents(agent.send(talk.rounds(1)))
    assert [text.startswith(CLEARED) for text in made] == [True, False, True]


def test_media_of_results(opened: Any, talk: Any, contents: Any) -> None:
    """A result of a tool that stays loses its large images only; what they were is said, with the text kept."""
    talk.round(("Read", {"file_path": "/a.png"}, [BIG]))
    talk.round(("mcp__shot", {}, [{"type": "text", "text": "The page."}, BIG]))
    talk.round(("mcp__shot", {}, [{"type": "text", "text": "The page."}, ICON]))
    read, shot, icon = contents(opened("cleared", keep=0).send(talk.rounds(1)))
    mark = "[image: image/png, 1,280 × 720 pixels, 26 bytes]"
    assert read == f"{CLEARED}Read: {mark}. To see it, call Read again."
    assert shot == f"The page.\n{mark}\n[Only a new call of mcp__shot shows one again.]"
    assert icon[1] == ICON


def test_media_that_stay(opened: Any, talk: Any, contents: Any) -> None:
    """A small image beside a long text of an unknown tool, a tool that is kept, what a line would hardly shorten."""
    url = {"type": "image", "source": {"type": "url", "url": "https://example.org/" + "x" * 180}}
    said = [
        [{"type": "text", "text": LONG}, png(250, 250)],
        [{"type": "text", "text": LONG[:400]}, png(280, 280)],
        [{"type": "text", "text": LONG[:410]}, url],
    ]
    for tool, content in zip(("mcp__shot", "Task", f"Read{'x' * 60}"), said, strict=True):
        talk.round((tool, {"path": "/a"}, content))
    tools = {"Task": "keep", f"Read{'x' * 60}": "clear"}
    assert contents(opened("cleared", keep=0, media=90, tools={"Task": "keep"}).send(talk.rounds(1)))[:2] == said[:2]
    assert contents(opened("cleared", keep=0, media=5_000, tools=tools).send(talk.messages))[2] == said[2]


def test_a_preview_leads_to_the_full_text(opened: Any, talk: Any, contents: Any, stored: Any) -> None:
    """What was previewed is longer than what another call would show: its way back stays the same path."""
    agent = opened("cleared", (Budget,), first=[{"budget": {"most": 2_000}}], keep=0)
    talk.round(("Read", {"file_path": "/a"}, LONG))
    assert contents(agent.send(talk.messages))[0].startswith(LONG[:2_000])
    (text,) = contents(agent.send(talk.rounds(1)))
    assert text.startswith(CLEARED)
    assert stored(agent, text) == LONG


def test_media_of_user_messages(opened: Any) -> None:
    """Large images and documents that the user sent go too, the newest ``keep`` stay."""
    pdf = base64.b64encode(b"%PDF-1.4 /Type /Page /Type /Page ").decode()
    document = {
        "type": "document",
        "title": "The plan",
        "source": {"type": "base64", "media_type": "application/pdf", "data": pdf},
    }
    messages = [user(BIG, "look"), says("yes"), user(document, ICON), says("yes"), user(BIG), says("yes"), user("go")]
    request = opened("cleared", keep=1).send(messages)
    (image, words), (paper, icon), (newest,) = (request.messages[n]["content"] for n in (0, 2, 4))
    assert image["text"].startswith("[image: image/png, 1,280 × 720 pixels, 26 bytes]\n[Cleared because it is old;")
    assert words["text"] == "look"
    assert paper["text"].startswith('[document "The plan": application/pdf, 2 pages, 33 bytes]')
    assert (icon, newest) == (ICON, BIG)


def test_media_in_openai_chat(opened: Any) -> None:
    """An ``image_url`` is the same image, an address is repeated, a file has its name."""
    url = f"data:image/png;base64,{BIG['source']['data']}"
    parts = [
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "file", "file": {"filename": "plan.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjQ="}},
    ]
    messages = [
        {"role": "user", "content": parts},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "go"},
    ]
    agent = opened("cleared", (), {"provider": {"kind": "openai"}}, keep=0, media=1)
    made = [part["text"].partition("\n")[0] for part in agent.session.prepare(messages).messages[0]["content"]]
    assert made == [
        "[image: image/png, 1,280 × 720 pixels, 26 bytes]",
        "[image: https://example.org/a.png]",
        '[document "plan.pdf": application/pdf, 8 bytes]',
    ]


def test_media_in_openai_responses(opened: Any) -> None:
    """Parts of Responses are the same media, in messages and in outputs; a screenshot stays."""
    url = f"data:image/png;base64,{BIG['source']['data']}"
    image = {"type": "input_image", "image_url": url}
    parts = [
        image,
        {"type": "input_image", "file_id": "f1"},
        {"type": "input_file", "filename": "plan.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjQ="},
        {"type": "input_file", "file_url": "https://example.org/a.pdf"},
    ]
    call = {"type": "function_call", "call_id": "c", "name": "Read", "arguments": '{"file_path": "/a.png"}'}
    output = {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": LONG}, image]}
    screen = {
        "type": "computer_call_output",
        "call_id": "s",
        "output": {"type": "computer_screenshot", "image_url": url},
    }
    items = [
        {"role": "user", "content": parts},
        call,
        output,
        {"type": "computer_call", "id": "cc", "call_id": "s", "action": {"type": "screenshot"}},
        screen,
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "go"},
    ]
    agent = opened("cleared", (), {"provider": {"kind": "responses"}}, keep=0, media=1)
    made = agent.session.prepare(items).messages
    assert [part["text"].partition("\n")[0] for part in made[0]["content"]] == [
        "[image: image/png, 1,280 × 720 pixels, 26 bytes]",
        "[image]",
        '[document "plan.pdf": application/pdf, 8 bytes]',
        "[document: https://example.org/a.pdf]",
    ]
    assert "[image: image/png, 1,280 × 720 pixels, 26 bytes]" in made[2]["output"]
    assert made[4] is screen
    assert agent.session.request.report.refused == {}


def test_unknown_content_stays(opened: Any, talk: Any, contents: Any) -> None:
    """A result with parts of an unknown kind is left alone."""
    content = [{"type": "text", "text": LONG}, {"type": "tool_reference", "tool_name": "x"}]
    talk.round(("Read", {"file_path": "/a"}, content))
    assert contents(opened("cleared", keep=0).send(talk.rounds(1))) == [content]
