"""Hazards H59 to H72: thinking, broken characters, stored originals, and who says what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from play import LONG, Play, call, decided, edits, raw, result, says, shown, talk, text, thinks, user, why
from stages import Budget, ClearOld, Do, DropOld, FoldOld, Greet
from trimtab import Drop, Fold, Insert, Replace
from trimtab.dialects.anthropic import validate
from trimtab.storage.files import FileBlobs

PLAIN: dict[str, Any] = {"do": {"when": "cold"}}
HALF = "half of it: \ud83d"


def thought(count: int) -> list[dict[str, Any]]:
    """Rounds in turns of their own, each answer thought about."""
    messages: list[dict[str, Any]] = []
    for n in range(count):
        messages += [user(f"Question {n}."), says(thinks(f"about {n}"), call(f"c{n}")), user(result(f"c{n}"))]
        messages.append(says(thinks(f"so {n}"), text("Done.")))
    return [*messages, user("And now?")]


def kept(request: Any) -> list[str]:
    """The thinking that a request shows, in order."""
    blocks = [block for message in request.messages for block in message["content"]]
    return [block["thinking"] for block in blocks if block["type"] == "thinking"]


def test_H59_thinking_of_the_latest_answer_is_untouchable() -> None:
    """While its round is open no edit of any kind reaches it: not its block, not its message, not in a manual pass."""
    messages = thought(3)[:-2]
    play = Play(Do, stages=[PLAIN])

    def everything(view: Any) -> Any:
        latest = next(item.message for item in reversed(view.messages) if item.role == "assistant")
        yield Drop([latest.blocks[0].id])
        yield Drop([latest.id])
        yield Replace(latest.blocks[0], "x")
        yield Replace(latest.blocks[1], "x")
        yield Fold(view.messages[-4:], "x")

    Do.now = everything
    request = play.session.compact(messages)
    assert sum(why(request, "do").values()) == 5
    assert decided(request) == []
    assert request.messages[-2] is messages[-2]


@pytest.mark.parametrize("bound", [False, True], ids=["free", "prefix-bound"])
def test_H60_kept_turns_keep_their_order_and_stale_thinking_goes(bound: bool) -> None:
    """Messages are never moved; on a model whose thinking is bound to its prefix, thinking behind an edit goes too."""
    messages = [*thought(4), says("No thoughts."), user("Go on.")]
    play = Play(ClearOld, stages=[{"clear-old": {"when": "cold", "keep": 3}}], provider={"prefix_bound": bound})
    play.send(messages)
    request = play.cold(messages)
    said = [words for n in range(4) for words in (f"about {n}", f"so {n}")]
    assert decided(request) == ["clear-old"]
    assert kept(request) == (["about 0"] if bound else said)
    assert [message["role"] for message in request.messages] == [message["role"] for message in messages]
    more = [*messages, says(thinks("anew"), text("Done.")), user("Thanks.")]
    assert kept(play.send(more)) == [*kept(request), "anew"]


@pytest.mark.parametrize("said", [[], [user("Hurry.")]], ids=["open round", "and what the user said meanwhile"])
def test_H60_an_edit_before_thinking_that_must_stay_waits(said: list[Any]) -> None:
    """Where the open round was thought about, an edit before it would make that signature stale: it waits."""
    messages = [*thought(4)[:-2], *said]
    play = Play(ClearOld, stages=[{"clear-old": {"when": "cold", "keep": 3}}], provider={"prefix_bound": True})
    play.send(messages)
    request = play.cold(messages)
    assert decided(request) == []
    assert why(request, "clear-old") == {"waits: thinking of the open turn is bound to it": 1}
    assert len(kept(request)) == 7
    closed = play.cold([*thought(4)[:-1], user("And now?")])
    assert decided(closed) == ["clear-old"]
    assert kept(closed) == ["about 0"]


def test_H61_never_a_part_of_a_thinking_block() -> None:
    """Thinking goes with all of its message or not at all, and what is shown has its signature."""
    double = says(thinks("one"), thinks("two"), text("Done."))
    messages = [user("Question."), double, *thought(2)]
    play = Play(Do, stages=[PLAIN])
    Do.now = lambda view: [
        Drop([view.messages[1].message.blocks[0].id]),
        Replace(view.messages[1].message.blocks[1], "t"),
    ]
    request = play.session.compact(messages)
    assert why(request, "do") == {
        "part of a message's thinking": 1,
        "thinking of assistant cannot be replaced": 1,
    }
    Do.now = lambda view: [Drop([block.id for block in view.messages[1].message.blocks[:2]])]
    request = play.session.compact(messages)
    assert decided(request) == ["do"]
    assert request.messages[1]["content"] == [text("Done.")]
    assert all("signature" in block for m in request.messages for block in m["content"] if block["type"] == "thinking")


def test_H62_no_half_of_a_character_leaves_us() -> None:
    """A stage's text with a lone surrogate is refused; one that came in from the agent is mended, on every request."""
    play = Play(Do, stages=["do"])
    Do.now = lambda view: [Replace(view.results[-1], HALF), Insert("tail", HALF)]
    request = play.send(talk(1))
    assert why(request, "do") == {"lone surrogate": 2}
    broken = [user(HALF), says(thinks("fine"), call("a", command=HALF)), user(result("a", HALF))]
    broken = [*broken, says(HALF), {"role": "user", "content": HALF}]
    for _ in range(2):
        request = Play(Do).send(broken)
        assert json.dumps(request.messages, ensure_ascii=False).encode()
        assert "half of it: \ufffd" in shown(request)
        assert validate(request.messages) == []


def test_H63_a_cut_original_is_stored_as_text_again(tmp_path: Path) -> None:
    """A result with half of a character can be shortened: its original is a readable file, the request encodes."""
    blobs = FileBlobs(f"file://{tmp_path}/blobs")
    play = Play(Budget, stages=["budget"], blobs=blobs)
    request = play.send([user("go"), says(call("a")), user(result("a", f"{LONG}{HALF}"))])
    assert request.report.repairs == 1
    assert shown(request).encode()
    for path in tmp_path.rglob("*.txt"):
        assert path.read_bytes().decode().startswith("The quick brown fox")


def test_H66_results_in_blocks_are_measured_and_shortened() -> None:
    """A result given as a list of text blocks is text like any other."""
    parts = [text(LONG), text(LONG)]
    request = Play(Budget, stages=["budget"]).send([user("go"), says(call("a")), user(result("a", parts))])
    assert decided(request) == ["budget"]
    assert len(shown(request)) < 700
    assert request.report.tokens_before > 900 > request.report.tokens_after


def test_H68_ids_from_outside_name_no_file(tmp_path: Path) -> None:
    """Two sessions with one call id, and ids made of path characters: originals lie inside the folder, each its own."""
    blobs = FileBlobs(f"file://{tmp_path}/blobs")
    evil = "../../../etc/passwd\x00~/x"
    play = Play(Budget, stages=["budget"], blobs=blobs)
    for name in ("s", "../t"):
        play.session = play.open(name)
        play.send([user("go"), says(call(evil)), user(result(evil, f"{name}: {LONG}"))])
        (row,) = edits(play, "replace")
        assert Path(row["way_back"][0]).read_text().startswith(f"{name}: The quick")
    files = [path for path in tmp_path.rglob("*.*") if path.is_file()]
    assert len(files) == 4
    assert all(path.is_relative_to(tmp_path / "blobs") for path in files)
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in files)


def test_H69_resume_is_byte_identical() -> None:
    """A new process renders nothing anew: folds, drops, replacements and inserts come from the ledger."""
    names = ["clear-old", "drop-old", "fold-old"]
    stages: list[Any] = [{"drop-old": {"when": "cold", "keep": 5}}, {"fold-old": {"when": "cold", "keep": 7}}]
    stages += [{"clear-old": {"when": "cold", "keep": 1}}, "budget"]
    play = Play(ClearOld, DropOld, FoldOld, Budget, Greet, stages=stages, hooks=["greet"])
    messages = talk(8)
    play.send(messages, system="Be brief.")
    before = play.cold(messages, system="Be brief.")
    assert set(names) <= set(decided(before))
    play.again(stages=[], hooks=[])
    after = play.send(messages, system="Be brief.")
    assert json.dumps(after.messages) == json.dumps(before.messages)
    assert after.system == before.system


def test_H70_a_summary_has_the_users_voice() -> None:
    """What stands for history is never above the user: no fold, no insert of a running session is a system text."""
    play = Play(FoldOld, Greet, stages=[{"fold-old": {"when": "cold", "keep": 3}}], hooks=["greet"])
    messages = talk(5)
    play.send(messages, system="Be brief.")
    request = play.cold(messages, system="Be brief.")
    assert request.system == "Be brief."
    assert request.messages[0]["role"] == "user"
    assert "Summary" in str(request.messages[0])
    assert request.messages[1] == user("House rule: test first.")
    assert all(message["role"] != "system" for message in request.messages)


@pytest.mark.parametrize("markup", ["<tool_use>", "< / invoke>", "<FUNCTION_CALLS>", "</tool_result >"])
def test_H72_tool_protocol_is_no_summary(markup: str) -> None:
    """An answer that holds tool markup in any spelling is rejected."""
    play = Play(FoldOld, stages=[{"fold-old": {"when": "cold", "ask": True}}], ask=lambda ask: f"Fine. {markup} x")
    messages = talk(5)
    play.send(messages)
    play.now += 3_600
    request = play.session.prepare(messages)
    assert request.report.failures == ["fold-old: AskFailed: the answer holds tool markup"]
    assert raw(request) == raw(play.session.prepare(messages))
    assert not decided(request)


def test_H59_compaction_behind_a_thinking_answer() -> None:
    """Folding up to the latest answer leaves it whole, so that the next request is accepted."""
    messages = [*thought(3)[:-1], user("Next."), says(thinks("last"), call("z")), user(result("z"))]
    play = Play(FoldOld, stages=[{"fold-old": {"when": "cold", "keep": 3}}], provider={"prefix_bound": False})
    play.send(messages)
    request = play.cold(messages)
    assert decided(request) == ["fold-old"]
    assert request.messages[-2] is messages[-2]
    assert kept(request) == ["last"]
