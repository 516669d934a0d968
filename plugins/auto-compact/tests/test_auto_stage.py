"""The stage in a session: what it folds, when, who writes it, and that a bad answer changes nothing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest
from summaries import GOOD, opened
from trimtab import Answer, Ask, Fold, Hook, Scripted, Session, Stage, Veto, hookimpl, load
from trimtab.summary import SECTIONS, Keep, span
from trimtab.testing.material import rounds
from trimtab_auto_compact import AutoCompact, CompactOptions

OPEN: dict[str, Any] = {"when": "always", "warm": "allow", "keep": {"messages": 2}}
CALL = "<function_calls><invoke name='Read'></invoke></function_calls>"
BAD: dict[str, Any] = {
    "empty": "",
    "error text": 'API Error: 529 {"type":"error"}',
    "refusal": "I'm sorry, but I can't help with that.",
    "tool call": CALL,
    "tool call in a summary": GOOD + CALL,
    "a skeleton": "\n".join(SECTIONS),
    "only thought": f"<scratchpad>{GOOD}</scratchpad>",
    "too long": f"{GOOD}\n{'word ' * 60_000}",
    "not text": 7,
    "exception": RuntimeError("down"),
    "timeout": TimeoutError("slow"),
}


def session(asker: Any = None, **options: Any) -> Session:
    """A session with this stage alone, its `when` open."""
    return opened({"auto-compact": {**OPEN, **options}}, asker=asker)


def summaries(messages: list[Any]) -> list[str]:
    """The texts of summaries in a request."""
    texts = [message["content"] for message in messages]
    found = [text if isinstance(text, str) else str(text[0].get("text", "")) for text in texts]
    return [text for text in found if text.startswith("<summary>")]


def test_the_model_writes_it() -> None:
    """Its sections stand in a message of the user's voice, before the newest round as it was said."""
    scripted, messages = Scripted(GOOD), rounds("anthropic", 30)
    request = session(scripted).prepare(messages)
    (text,) = summaries(request.messages)
    assert GOOD in text
    assert "for 59 messages; the 2 messages behind it stand as said" in text
    assert [message["role"] for message in request.messages] == ["user", "assistant", "user"]
    assert request.messages[1:] == messages[-2:]
    (ask,) = scripted.asked
    assert ask.shared
    assert ask.request.messages == messages


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_H34_H35_H36_H72_a_bad_answer_changes_nothing(bad: Any) -> None:
    """Without a fallback the request is what it was, byte for byte, and no original is lost."""
    messages = rounds("anthropic", 30)
    made = session(lambda ask: _answer(bad), fallback="none")
    request = made.prepare(messages)
    assert request.messages == messages
    assert all(one is other for one, other in zip(request.messages, messages, strict=True))
    assert request.report.decisions == []


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_answer_is_replaced_by_rules(bad: Any) -> None:
    """With the fallback rules write the summary, and the decision says why; nothing of the answer is in it."""
    made = session(lambda ask: _answer(bad))
    (text,) = summaries(made.prepare(rounds("anthropic", 30)).messages)
    assert "Written by rule" in text
    assert "The parser was read." not in text
    assert "/src/f28.py" in text
    fold = made.ledger.decisions[0].edits[0]
    assert fold.reason.startswith("29 rounds summarised by rule: ")


def by_provider(answer: Any, offers: bool = True) -> tuple[Any, list[Ask]]:
    """A request in which the provider was to summarise, and what it was asked."""
    asked: list[Ask] = []

    def asker(ask: Ask) -> Any:
        asked.append(ask)
        return answer

    provider = {"kind": "anthropic", "window": 200_000, "prefix_bound": False, "compaction": offers}
    made = opened({"auto-compact": {**OPEN, "writer": "provider"}}, asker=asker, provider=provider)
    return made.prepare(rounds("anthropic", 30)), asked


def test_the_provider_writes_it() -> None:
    """Its block stands first; it was given what it stands for, and told what to mind."""
    block = {"type": "compaction", "content": GOOD, "signature": "sealed"}
    request, (ask,) = by_provider(Answer(GOOD, block=block))
    assert request.messages[0] == {"role": "user", "content": [block]}
    assert request.messages[1:] == rounds("anthropic", 30)[-2:]
    assert ask.native
    assert ask.request.messages == rounds("anthropic", 30)[:-2]
    assert request.report.decisions[0].reason == "29 rounds summarised by the provider"


@pytest.mark.parametrize(("answer", "offers"), [("no summary", True), (Answer("x", block={}), True), (GOOD, False)])
def test_rules_write_what_the_provider_does_not(answer: Any, offers: bool) -> None:
    """Where its summary cannot be used, or it writes none, rules do it."""
    request, asked = by_provider(answer, offers)
    (text,) = summaries(request.messages)
    assert "Written by rule" in text
    assert len(asked) == offers
    assert request.extra == {}


def _answer(bad: Any) -> Any:
    if isinstance(bad, Exception):
        raise bad
    return bad


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError])
def test_a_cancelled_answer_changes_nothing(error: type[BaseException]) -> None:
    """It passes through; afterwards the session goes on from where it was."""

    def asker(ask: Any) -> str:
        raise error

    made, messages = session(asker), rounds("anthropic", 30)
    with pytest.raises(error):
        made.prepare(messages)
    assert made.ledger.decisions == []
    made._ask = Scripted(GOOD)
    assert GOOD in summaries(made.prepare(messages).messages)[0]


def test_H34_nobody_to_ask() -> None:
    """Rules write it; without a fallback nothing happens, and nothing is reported."""
    assert "Written by rule" in summaries(session().prepare(rounds("anthropic", 30)).messages)[0]
    request = session(fallback="none").prepare(rounds("anthropic", 30))
    assert (summaries(request.messages), request.report.warnings, request.report.failures) == ([], [], [])


def test_without_a_when_nobody_is_asked() -> None:
    """It could change nothing, not even in a manual pass, so no answer is paid for."""
    made = opened({"auto-compact": {"keep": {"messages": 2}}}, asker=(scripted := Scripted(GOOD)))
    assert summaries(made.prepare(rounds("anthropic", 30)).messages) == summaries(made.compact().messages) == []
    assert scripted.asked == []


def test_what_does_not_help_is_not_asked_for() -> None:
    """Where what is kept alone is too large, no summary of the rest brings the request below the limit."""
    messages = [*rounds("anthropic", 30), *rounds("anthropic", 1, "word " * 40_000)[1:]]
    made = opened({"auto-compact": {**OPEN, "fallback": "none"}}, window=20_000, asker=(scripted := Scripted(GOOD)))
    with pytest.raises(Exception, match="the limit is"):
        made.prepare(messages)
    assert scripted.asked == []


def test_H43_the_caller_decides_what_is_kept() -> None:
    """`Session.compact(keep=…)` overrides the option, in every form that the option has."""
    for keep, count in ((6, 6), ({"messages": 8}, 8), (Keep(tokens=0, texts=5), 10), (None, 2)):
        made = session(Scripted(GOOD), writer="mechanical", when={"over": "auto"})
        made.prepare(messages := rounds("anthropic", 30))
        assert made.compact(keep=keep).messages[1:] == messages[-count:]


def test_instructions_reach_the_model() -> None:
    """What the user wants of a summary stands in the question."""
    made = session(scripted := Scripted(GOOD), when={"over": "auto"})
    made.prepare(rounds("anthropic", 30))
    made.compact(instructions="only the parser")
    assert "The user wants of this summary: only the parser" in scripted.asked[0].prompt


class First(Stage):
    """Makes a boundary of its own."""

    name = "first"

    def propose(self, view: Any) -> Iterator[Fold]:
        """All but the latest round."""
        yield Fold(span(view, Keep.of(2)), "First.", "first")


def test_one_boundary_in_a_pass() -> None:
    """Behind a stage that made one there is nothing left to do."""
    listed = [{"first": {"when": "always", "warm": "allow"}}, {"auto-compact": {**OPEN, "keep": {"messages": 0}}}]
    profile = load("minimal", overrides={"stages": listed}, plugins=[First, AutoCompact], env={}, cwd="/")
    made = opened()
    other = Session.open(
        "s", profile, ledger=made.ledger.store, blobs=made.ledger.blobs, ask=(scripted := Scripted(GOOD))
    )
    request = other.prepare(rounds("anthropic", 30))
    assert [one.stage for one in request.report.decisions] == ["first"]
    assert scripted.asked == []


class No(Hook):
    """Vetoes everything."""

    name = "no"

    @hookimpl
    def pre_compact(self, view: Any) -> Iterator[Any]:
        """Always."""
        yield from ()
        raise Veto("not now")


def test_a_vetoed_pass_asks_nobody() -> None:
    """And changes nothing."""
    listed = {"stages": [{"auto-compact": OPEN}], "hooks": ["no"]}
    profile = load("minimal", overrides=listed, plugins=[No, AutoCompact], env={}, cwd="/")
    made = opened()
    other = Session.open(
        "s", profile, ledger=made.ledger.store, blobs=made.ledger.blobs, ask=(scripted := Scripted(GOOD))
    )
    assert summaries(other.prepare(rounds("anthropic", 30)).messages) == []
    assert scripted.asked == []


def test_H39_H44_each_summary_stands_on_the_one_before() -> None:
    """The earlier summary is in the question, the run and the full text; what a model found survives any number."""
    found = GOOD.replace("The parser was read.", "A model found the cause in line 7.")
    scripted = Scripted(found, found.replace("7", "8"), "", "")
    made, messages, texts = session(scripted, input="flat"), rounds("anthropic", 10), []
    for _ in range(4):
        (text,) = summaries(made.prepare(messages).messages)
        texts.append(text)
        messages = [*messages, *rounds("anthropic", 10)[1:]]
    assert "cause in line 7" in scripted.asked[1].prompt
    assert "--- an earlier summary\n[summary>" not in scripted.asked[1].prompt
    for text in texts[2:]:
        assert text.count("A model found the cause in line 8.") == len(SECTIONS)
        assert text.count("Earlier summaries, made otherwise, said:\n  ## Request and intent\n") == 1
        assert text.count("Tools used: ") == 1
        assert "User: Mend the parser, and never push to the main branch." in text
    assert "/src/f0.py: read 4×" in texts[3]
    path = re.search(r"^Full text: (.*)$", texts[3], re.MULTILINE)
    assert path
    full = made.ledger.blobs.get(made.ledger.blobs.owns(path[1]) or "").decode()
    assert [full.count(f"Step {n}.") for n in range(9)] == [4] * 9


def test_options() -> None:
    """The defaults are those of the contract."""
    options = CompactOptions()
    assert (options.keep, options.writer, options.fallback) == (Keep(), "model", "mechanical")
    assert (options.input, options.room) == ("shared", 10_000)


def test_what_was_restored_stays_and_the_rest_goes_on() -> None:
    """After an undo the messages that came back stay; what follows them is folded when the window fills again."""
    asker = Scripted(*[GOOD] * 9)
    one, messages = session(asker), rounds("anthropic", 20)
    first = one.prepare(messages)
    one.restore(first.report.decisions[0])
    back = one.prepare(messages)
    assert back.messages == messages
    longer = rounds("anthropic", 45)
    assert longer[: len(messages)] == messages
    request = one.prepare(longer)
    kept = len(messages) - 2  # the newest two were never folded
    assert request.messages[:kept] == longer[:kept]
    assert len(request.messages) < len(longer) - 40
    assert len(summaries(request.messages)) == 1
