"""One thing is too large: the newest result, what the user pasted, or pictures by their bytes."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from trimtab import ContextOverflow, Hook, Pin, hookimpl
from trimtab.testing.wires import WIRES

DIALECTS = pytest.mark.parametrize("dialect", ["anthropic", "openai"])


def last_text(run: Any) -> str:
    """The text of the last message as sent."""
    message = run.session.dialect.plain(run.request.messages[-1])
    return "\n".join(block.text for block in run.session.dialect.parse(message, "m")[1])


@DIALECTS
@pytest.mark.parametrize("count", [0, 1, 6])
def test_H48_a_result_larger_than_the_window_is_cut(
    opened: Any, rounds: Any, tmp_path: Any, dialect: str, count: int
) -> None:
    """The newest result alone: its start and end stay with the path of all of it, and so does every older round."""
    run = opened(dialect, folder=tmp_path)
    messages = rounds(dialect, [*[2_000] * count, 200_000])
    shown = run.prepare(messages)
    assert run.steps == ["clamp"]
    assert shown[:-1] == messages[:-1]
    assert all(one.free for one in run.request.report.decisions), "nothing that was sent changes"
    text = last_text(run)
    assert text.startswith(f"line_{count}_0 of the output\n")
    assert text.endswith(f"line_{count}_7999 of the output\n")
    path = text.partition("Full text: ")[2].partition("]")[0]
    assert Path(path).read_text("utf-8").count("\n") == 8_000
    assert 0.9 * run.session.window.auto < run.request.report.tokens_after <= run.session.window.auto


@DIALECTS
def test_H48_a_refused_result_is_cut_too(opened: Any, rounds: Any, dialect: str) -> None:
    """The provider's window is smaller than the profile says: the same, by what it reported."""
    run = opened(dialect, window=200_000)
    messages = rounds(dialect, [500, 500, 60_000])
    run.prepare(messages)
    run.refused(int(run.request.report.tokens_after), 10_000)
    assert run.steps == ["clamp"]
    assert run.request.messages[:-1] == messages[:-1]
    assert "too large for the window" in last_text(run)


@DIALECTS
def test_H48_history_makes_way_for_a_tenth_of_the_window(opened: Any, rounds: Any, dialect: str) -> None:
    """Beside a full history the newest result keeps a tenth; older rounds are summarised for that."""
    run = opened(dialect)
    run.prepare(rounds(dialect, [*[700] * 42, 100_000]))
    assert run.steps == ["clamp", "mechanical"]
    kept = run.session.view.count(last_text(run))
    assert kept == pytest.approx(0.1 * run.session.window.effective, rel=0.15)


@DIALECTS
def test_H48_at_the_end_of_the_chain_the_newest_result_keeps_little(opened: Any, rounds: Any, dialect: str) -> None:
    """Where nearly all of the window is what we do not see, it is cut again, to a fiftieth at the least."""
    run = opened(dialect)
    run.prepare(rounds(dialect, [*[700] * 4, 6_000]))
    run.refused(20_001, 20_000)
    assert run.steps == ["clamp", "mechanical", "truncate"]
    kept = run.session.view.count(last_text(run))
    assert 0.02 <= kept / run.session.window.effective <= 0.06
    assert run.request.report.tokens_after <= run.session.window.auto


@DIALECTS
def test_H48_what_the_user_pasted_is_cut(opened: Any, dialect: str) -> None:
    """A first message that is larger than the window; the short words behind it stay."""
    run = opened(dialect)
    wire = WIRES[dialect]
    run.prepare([wire.said("user", ["a pasted line\n" * 20_000, "What is this?"])])
    assert run.steps == ["clamp"]
    text = last_text(run)
    assert text.startswith("a pasted line\n")
    assert "characters in" in text
    assert text.endswith("What is this?")


def test_H48_the_users_words_stay_while_a_result_can_be_cut(opened: Any, rounds: Any) -> None:
    """Results and files go first, also where what the user says beside them is longer."""
    messages = rounds("anthropic", [16_000])
    said = {"type": "text", "text": "my own words\n" * 2_200}
    messages[-1]["content"].append(said)
    run = opened()
    assert run.prepare(messages)[-1]["content"][1] == said
    assert run.steps == ["clamp"]


class PinLast(Hook):
    """Pins the newest result."""

    name = "pin-last"

    @hookimpl
    def pre_compact(self, view: Any, trigger: str) -> Any:
        """It alone."""
        yield Pin(view.results[-1].block, "needed")


@DIALECTS
def test_H41_a_pin_that_fills_the_window_is_named(opened: Any, rounds: Any, dialect: str) -> None:
    """It is not cut: the error says that pins fill the window."""
    run = opened(dialect, hooks=(PinLast,))
    with pytest.raises(ContextOverflow, match="1 pins: "):
        run.prepare(rounds(dialect, [500, 200_000]))


# ------------------------------------------------------------------ bytes

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"picture" * 2_000).decode()


def picture(dialect: str, n: int = 0) -> dict[str, Any]:
    """A block with 14 kB of a picture."""
    data = PICTURE[:-8] + f"{n:08}"
    if dialect == "openai":
        return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def album(dialect: str, rounds: Any, count: int) -> list[Any]:
    """A picture of the user's before each of the last rounds but one, and in the newest message."""
    messages = rounds(dialect, [1_500] * (count + 1))
    for n in range(count):
        messages.insert(1 + 3 * n, {"role": "user", "content": [picture(dialect, n), {"type": "text", "text": "See."}]})
    messages[0] = {"role": "user", "content": [{"type": "text", "text": "Look."}]}
    newest = {"role": "user", "content": [picture(dialect, 99), {"type": "text", "text": "And this?"}]}
    return [*messages, newest]


@DIALECTS
def test_H49_pictures_go_once_where_bytes_are_too_many(opened: Any, rounds: Any, error: Any, dialect: str) -> None:
    """413: the older pictures go, each for a line that says what it was; no rounds go, nobody is asked."""
    run = opened(dialect, ask=lambda ask: pytest.fail("asked"), window=200_000)
    messages = album(dialect, rounds, 5)
    run.prepare(messages)
    shown = run.recover(error("Request exceeds the maximum size", 413))
    assert run.steps == ["media"]
    assert len(shown) == len(messages)
    assert str(shown).count("image/png, 18,7") == 5
    assert "This session's store has it]" in str(shown)
    assert shown[-1] == messages[-1], "the newest stays"
    with pytest.raises(ContextOverflow, match="too large in bytes"):
        run.recover(error("Request exceeds the maximum size", 413))
    run.session.restore(1)
    assert run.prepare(messages) == messages


@DIALECTS
def test_H49_where_all_bytes_are_those_of_texts_rounds_go(opened: Any, rounds: Any, error: Any, dialect: str) -> None:
    """No media to strip: the view is folded to half."""
    run = opened(dialect, window=200_000)
    messages = rounds(dialect, [800] * 30)
    run.prepare(messages)
    before = run.request.report.tokens_after
    assert len(run.recover(error("Request exceeds the maximum size", 413))) < len(messages)
    assert run.request.report.tokens_after <= before / 2


@DIALECTS
def test_H49_where_there_is_no_other_the_newest_picture_goes(
    opened: Any, rounds: Any, error: Any, dialect: str
) -> None:
    """A single picture that is itself too large."""
    run = opened(dialect, window=200_000)
    run.prepare(album(dialect, rounds, 0))
    assert "image/png, 18,7" in str(run.recover(error("Request exceeds the maximum size", 413))[-1])


def test_H49_links_stay_and_results_keep_their_words(opened: Any, rounds: Any, error: Any) -> None:
    """A picture by its address costs no bytes; of a result with a picture the text stays, and says how to see it."""
    messages = rounds("anthropic", [300] * 4)
    link = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    messages.insert(1, {"role": "user", "content": [link]})
    messages[2]["content"][-1]["input"] = {"file_path": "/src/a.png"}
    result = messages[3]["content"][0]
    result["content"] = [{"type": "text", "text": "A picture of a cat:"}, picture("anthropic")]
    run = opened(window=200_000)
    run.prepare(messages)
    shown = run.recover(error("Request exceeds the maximum size", 413))
    assert shown[1] is messages[1]
    (text,) = (
        [part["text"] for part in shown[3]["content"][0]["content"]]
        if isinstance(shown[3]["content"][0]["content"], list)
        else [shown[3]["content"][0]["content"]]
    )
    words, _, line = text.partition("\n")
    assert words == "A picture of a cat:"
    assert line.startswith("[image/png, 18,7")
    assert line.endswith("to see it, read /src/a.png again]")


def test_H49_pictures_of_responses_go_and_outputs_keep_their_words(opened: Any, error: Any) -> None:
    """Parts of Responses, in messages and in outputs, whose text is not counted as a picture's."""
    data = f"data:image/png;base64,{PICTURE}"
    image = {"type": "input_image", "image_url": data}
    said = [{"type": "input_text", "text": "A picture of a cat:"}, image]
    call = {"type": "function_call", "call_id": "c", "name": "Read", "arguments": '{"file_path": "/src/a.png"}'}
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "Look."}, image]},
        call,
        {"type": "function_call_output", "call_id": "c", "output": said},
        {"role": "assistant", "content": "A cat."},
        {"role": "user", "content": "And now?"},
    ]
    run = opened("responses", window=200_000)
    run.prepare(items)
    shown = run.recover(error("Request exceeds the maximum size", 413))
    assert shown[0]["content"][0] == {"type": "input_text", "text": "Look."}
    assert shown[0]["content"][1]["text"].startswith("[image/png, 18,7")
    words, _, line = shown[2]["output"].partition("\n")
    assert words == "A picture of a cat:"
    assert line.startswith("[image/png, 18,7")
    assert line.endswith("to see it, read /src/a.png again]")


def test_H49_a_limit_of_tokens_behind_it_goes_on(opened: Any, rounds: Any, error: Any) -> None:
    """First bytes, then tokens, of one request: the chain begins at its start, and media are not tried again."""
    run = opened(window=200_000)
    run.prepare(album("anthropic", rounds, 12))
    run.recover(error("Request exceeds the maximum size", 413))
    run.refused(int(run.request.report.tokens_after), int(0.7 * run.request.report.tokens_after))
    assert run.steps == ["media", "mechanical"]


def test_H52_a_silent_overflow_is_recovered_from(opened: Any, rounds: Any) -> None:
    """200 with usage above the window, and an answer of nothing: the chain runs on the response."""
    run = opened()
    run.prepare(rounds("anthropic", [700] * 38))
    response = {"usage": {"input_tokens": 20_300, "output_tokens": 0}, "content": [], "stop_reason": "length"}
    assert run.session.observe(response) is True
    run.recover(response)
    assert run.steps == ["mechanical"]


def test_H51_words_that_nobody_knows_are_an_overflow_near_the_window(opened: Any, rounds: Any, error: Any) -> None:
    """An unknown 400 at 80 % of the window and more."""
    run = opened()
    run.prepare(rounds("anthropic", [700] * 44))
    run.recover(error("the request is not to our liking"))
    assert run.steps == ["mechanical"]
