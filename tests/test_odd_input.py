"""Whatever an agent hands in, `prepare` does not raise: it mends, or passes on and says so (R27, R31)."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest
from play import LONG, Play, call, decided, raw, result, rounds, says, shown, talk, text, thinks, user
from stages import Budget, ClearOld, Greet
from trimtab import ContextOverflow, TrimtabError
from trimtab.dialects.anthropic import validate


def deep(levels: int = 5_000) -> Any:
    """A list in a list in a list: more than Python can walk."""
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def of(*content: Any, role: Any = "user") -> dict[str, Any]:
    """A message of these blocks, whatever they are."""
    return {"role": role, "content": list(content)}


UNREADABLE = {
    "not a message": 5,
    "text": "hello",
    "nothing": None,
    "a list": ["role", "user"],
    "no role": {"content": "x"},
    "role None": {"role": None, "content": "x"},
    "another format's result": {"role": "tool", "content": "x", "tool_call_id": "a"},
    "another format's call": {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]},
    "content a number": {"role": "user", "content": 5},
    "content a block": {"role": "user", "content": text("x")},
    "content bytes": {"role": "user", "content": b"x"},
    "block a string": of("x"),
    "block None": of(None),
    "result a number": of({"type": "tool_result", "tool_use_id": "x", "content": 5}),
    "result of numbers": of({"type": "tool_result", "tool_use_id": "x", "content": [5, None]}),
    "document of numbers": of({"type": "document", "source": {"type": "content", "content": 5}}),
    "thinking a number": of({"type": "thinking", "thinking": 5, "signature": [1]}, role="assistant"),
    "bytes in text": of({"type": "text", "text": b"x"}),
    "a set": of({"type": "text", "text": "x", "n": {1}}),
    "keys of two kinds": of({"type": "text", "text": "x", 1: 2}),
    "deep": of({"type": "new", "value": deep()}),
    "deep arguments": of({"type": "tool_use", "id": "q", "name": "b", "input": {"v": deep()}}, role="assistant"),
}
READABLE = {
    "unknown role": {"role": "robot", "content": "x"},
    "system role": {"role": "system", "content": "x"},
    "unknown block": of({"type": "hologram", "data": {"x": [1]}}),
    "block without type": of({}),
    "type a list": of({"type": ["x"]}),
    "text a number": of({"type": "text", "text": 7}),
    "image without source": of({"type": "image"}),
    "image of nonsense": of({"type": "image", "source": {"type": "base64", "media_type": "x", "data": "!!!"}}),
    "image of a number": of({"type": "image", "source": {"type": "base64", "data": 5}}),
    "document of a string": of({"type": "document", "source": "x"}),
    "call without anything": of({"type": "tool_use"}, role="assistant"),
    "call of nonsense": of({"type": "tool_use", "id": [1], "name": {"a": 1}, "input": "x"}, role="assistant"),
    "call of the user": of(call("a")),
    "thinking of the user": of(thinks("hm")),
    "thinking without text": of({"type": "thinking"}, role="assistant"),
    "server result alone": of({"type": "web_search_tool_result", "tool_use_id": "x", "content": []}, role="assistant"),
    "NaN": of({"type": "text", "text": "x", "n": float("nan")}),
    "marker None": of({"type": "text", "text": "x", "cache_control": None}),
}
MENDED = {
    "no content": {"role": "user"},
    "content None": {"role": "user", "content": None},
    "content empty": {"role": "user", "content": ""},
    "content of nothing": of(),
    "content blank": {"role": "user", "content": " \n"},
    "text missing": of({"type": "text"}),
    "an answer of nothing": of(role="assistant"),
    "a blank answer": {"role": "assistant", "content": " "},
    "text blank among others": of(text(" "), text("x")),
    "NUL": {"role": "user", "content": "a\0b"},
    "half a character": {"role": "user", "content": "x \ud83d"},
    "halves the wrong way round": of(text("\udc00\ud83d")),
    "half a character in a result": of(result("none", "\udfff")),
    "result without a call": of(result("none")),
    "result without an id": of({"type": "tool_result", "content": "x"}),
    "result twice": of(result("c1", "first"), result("c1", "second")),
    "text before the results": of(text("wait"), result("none")),
}


def everywhere(odd: Any) -> list[list[Any]]:
    """The odd message alone, behind a good conversation, before one, and in the middle."""
    good = talk(2)
    return [
        [odd],
        [*good, says("fine"), odd],
        [odd, says("fine"), *good],
        [*good, says("so"), odd, says("on"), *talk(1)],
    ]


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_passes_as_it_is(name: str) -> None:
    """The raw request comes back and says so; what was decided before and comes after is not touched."""
    play = Play(Budget, stages=["budget"])
    good = play.send(talk(2))
    for messages in everywhere(UNREADABLE[name]):
        request = play.session.prepare(messages, system="Be brief.")
        assert len(request.report.failures) == 1
        assert "could not be read" in request.report.failures[0]
        assert all(new is old for new, old in zip(request.messages, messages, strict=True))
        play.session.observe({"input_tokens": 99_000})
        again = play.send(talk(2))
        assert raw(again) == raw(good)
        assert again.report.tokens_after < 2_000


@pytest.mark.parametrize("name", READABLE)
def test_what_is_odd_passes_through(name: str) -> None:
    """Unknown roles, blocks and fields go out as they came in, and the rest of the request is still looked after."""
    odd = READABLE[name]
    for messages in everywhere(odd)[:3]:
        play = Play(Budget, stages=["budget"])
        request = play.session.prepare([*messages, *rounds(1, first=70)])
        assert request.report.failures == []
        if name not in ("server result alone", "call without anything", "call of nonsense", "thinking of the user"):
            assert any(message is odd for message in request.messages)
        assert decided(request)[-1] == "budget"


@pytest.mark.parametrize("name", MENDED)
def test_what_is_broken_is_mended(name: str) -> None:
    """A valid request, the same one the next time, and a report of what was mended."""
    for messages in everywhere(MENDED[name]):
        play = Play(Budget, stages=["budget"])
        if messages[-1].get("role") == "assistant":
            messages = [*messages, user("go on")]
        request = play.send(messages)
        assert shown(request).encode()
        assert request.messages[-1]["role"] == "user"
        assert (request.report.repairs > 0) == (name != "NUL")
        again = play.send(messages)
        assert raw(again) == raw(request)
        assert again.report.repairs == 0
        play.again()
        assert raw(play.send(messages)) == raw(request)


def test_calls_that_a_system_message_follows() -> None:
    """It cannot hold their results, so the list goes out as it came: no less valid, and nobody's words in its mouth."""
    messages = [*talk(1), says(call("open")), {"role": "system", "content": "Be brief."}]
    assert Play().session.prepare(messages).messages == messages


def test_a_result_that_comes_late() -> None:
    """A call that had to be answered for the agent is answered by the agent when its result is there."""
    play = Play()
    messages = [user("go"), says(call("a"), call("b")), user(result("a"))]
    assert "No result of this call" in shown(play.send(messages))
    messages = [*messages, user(result("b", "here it is"))]
    for _ in range(2):
        request = play.send(messages)
        assert "No result of this call" not in shown(request)
        assert "here it is" in shown(request)
        assert validate(request.messages) == []
        play.again()


def test_an_empty_list() -> None:
    """Nothing in, nothing out."""
    play = Play(Greet, hooks=["greet"])
    empties: list[Any] = [[], (), iter([])]
    for empty in empties:
        request = play.session.prepare(empty, system="x", tools=[])
        assert (request.messages, request.system, request.tools, request.report.failures) == ([], "x", [], [])
    assert play.ledger.sessions() == []


def test_a_generator() -> None:
    """Messages may come from any iterable."""
    play = Play(Budget, stages=["budget"])
    assert play.session.prepare(message for message in talk(2)).messages == play.send(talk(2)).messages  # type: ignore[arg-type]


@pytest.mark.parametrize("odd", [5, {"a": {1}}, object(), [object()], "\ud83d", deep()], ids=range(6))
def test_odd_system_and_tools(odd: Any) -> None:
    """They are passed on whatever they are."""
    for more in ({"system": odd}, {"tools": odd}):
        request = Play(Budget, stages=["budget"]).session.prepare(talk(1), **more)
        assert (request.system, request.tools) == (more.get("system"), more.get("tools"))
        assert len(request.messages) == 3


@pytest.mark.parametrize(
    "response",
    [
        *(None, 5, "x", [], {}, object(), {"usage": None}, {"usage": 5}, {"usage": []}, {"input_tokens": None}),
        *({"input_tokens": "many"}, {"input_tokens": float("nan")}, {"input_tokens": -5}),
        *({"usage": {"iterations": 5}}, {"usage": {"iterations": [5]}}, {"usage": {"input_tokens": {}}}),
    ],
    ids=lambda response: type(response).__name__ if type(response) is object else repr(response),
)
def test_odd_responses(response: Any) -> None:
    """`observe` takes what it understands and leaves the rest."""
    play = Play()
    play.session.observe(response)
    before = play.send(talk(2)).report.tokens_after
    play.session.observe(response)
    assert play.send(talk(2)).report.tokens_after == before


def test_huge_input_overflows_by_name() -> None:
    """Only the window ends in an exception; afterwards the session goes on, and the cache was not sent anything."""
    play = Play(Budget, stages=["budget"])
    messages = talk(2)
    play.send(messages)
    with pytest.raises(ContextOverflow, match=r"about [\d,]+ tokens, the limit is 177,000 of a window of 200,000"):
        play.send([*messages, says("so"), {"role": "user", "content": "x" * 2_000_000}])
    assert play.send([*messages, says("so"), user("on")]).report.held == 1 + len(messages)


@pytest.mark.parametrize("odd", ["not a message", "no role", "unknown role", "call of the user", "bytes in text"])
def test_strict_raises(odd: str) -> None:
    """`strict: true` raises on what cannot be read and on a request that would be invalid, and says where."""
    play = Play(strict=True)
    good = play.send(talk(1))
    with pytest.raises((TypeError, TrimtabError)) as caught:
        play.session.prepare([*talk(1), says("so"), (UNREADABLE | READABLE)[odd]])
    if isinstance(caught.value, TrimtabError):
        assert str(caught.value).startswith("messages[4]")
    assert raw(play.send(talk(1))) == raw(good)


def test_strict_lets_mended_input_pass() -> None:
    """What was mended is valid, so it does not raise."""
    play = Play(ClearOld, strict=True)
    for odd in MENDED.values():
        play.session.prepare([*talk(1), says("so"), odd])


def test_long_unbroken_runs_are_counted_in_time() -> None:
    """Two million characters without a space take less than a second of the processor."""
    play, start = Play(counter="auto", provider={"window": 10_000_000}), process_time()
    play.send([user("x" * 2_000_000), says("so"), user(LONG)])
    assert process_time() - start < 1
