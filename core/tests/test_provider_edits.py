"""The fake provider's own edits: context_management, and deletions from its cache."""

import anthropic
import pytest
from provider_client import client
from trimtab.testing.provider import Think, Use

pytest_plugins = ["trimtab.testing.provider.fixture"]

HEADER = "context-management-2025-06-27"
DELETING = "cache-deletion-test"
TOOLS = [{"name": "bash", "input_schema": {"type": "object"}}, {"name": "read", "input_schema": {"type": "object"}}]
MARK = {"type": "ephemeral"}
THOUGHT = Think("t" * 360)
TOOL_USES, THINKING = "clear_tool_uses_20250919", "clear_thinking_20251015"


def rounds(number: int) -> list[dict]:
    """Messages with that many calls, each with a result of 100 tokens, and room to go on."""
    messages = [{"role": "user", "content": "go"}]
    for n in range(number):
        call = {"type": "tool_use", "id": f"c{n}", "name": "read" if n == 1 else "bash", "input": {"x": "y" * 36}}
        messages.append({"role": "assistant", "content": [call]})
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": "z" * 360}
        messages.append({"role": "user", "content": [result]})
    return messages


def ask(provider, messages, *edits, betas=(HEADER,), **more):
    """One request with these edits."""
    asked = {"model": "claude-opus-5", "max_tokens": 1000, "tools": TOOLS, "betas": list(betas), **more}
    if edits:
        asked["context_management"] = {"edits": list(edits)}
    return client(provider).beta.messages.create(messages=messages, **asked)


def tools(**fields) -> dict:
    """A clear_tool_uses edit that starts at once."""
    return {"type": TOOL_USES, "trigger": {"type": "input_tokens", "value": 1}, **fields}


@pytest.fixture
def provider(fake_provider):
    """An echo that caches everything."""
    return fake_provider(minimum=1)


def test_old_results_are_cleared_and_reported(provider):
    """All but the newest three by default; usage, count_tokens and the report agree."""
    messages = rounds(6)
    plain = ask(provider, messages).usage.input_tokens
    answer = ask(provider, messages, tools())
    (applied,) = answer.context_management.applied_edits
    assert (applied.type, applied.cleared_tool_uses) == (TOOL_USES, 3)
    assert answer.usage.input_tokens == plain - applied.cleared_input_tokens
    counted = client(provider).beta.messages.count_tokens(
        model="m", messages=messages, tools=TOOLS, betas=[HEADER], context_management={"edits": [tools()]}
    )
    assert counted.input_tokens == answer.usage.input_tokens
    assert counted.context_management.original_input_tokens == plain


def test_a_stream_reports_in_the_last_delta(provider):
    """applied_edits are in message_delta, not in message_start."""
    stream = client(provider).beta.messages.create(
        model="m", max_tokens=9, messages=rounds(6), tools=TOOLS, stream=True, betas=[HEADER],
        context_management={"edits": [tools()]},
    )  # fmt: skip
    events = list(stream)
    assert events[0].message.context_management is None
    assert events[-2].context_management.applied_edits[0].cleared_tool_uses == 3


SETTINGS = {
    "keep": ({"keep": {"type": "tool_uses", "value": 1}}, 5),
    "exclude": ({"exclude_tools": ["read"]}, 2),
    "trigger by calls": ({"trigger": {"type": "tool_uses", "value": 5}}, 3),
    "trigger by calls not reached": ({"trigger": {"type": "tool_uses", "value": 6}}, 0),
    "default trigger": ({"trigger": None}, 0),
    "enough": ({"clear_at_least": {"type": "input_tokens", "value": 200}}, 3),
    "not enough": ({"clear_at_least": {"type": "input_tokens", "value": 1000}}, 0),
}


@pytest.mark.parametrize(("fields", "cleared"), SETTINGS.values(), ids=SETTINGS)
def test_settings_of_clearing(provider, fields, cleared):
    """How many of six calls are cleared."""
    applied = ask(provider, rounds(6), tools(**fields)).context_management.applied_edits
    assert sum(entry.cleared_tool_uses for entry in applied) == cleared


def test_inputs_are_cleared_where_asked(provider):
    """clear_tool_inputs frees more, for all tools or for those named."""
    freed = [
        ask(provider, rounds(6), tools(**more)).context_management.applied_edits[0].cleared_input_tokens
        for more in ({}, {"clear_tool_inputs": ["read"]}, {"clear_tool_inputs": True})
    ]
    assert freed[0] < freed[1] < freed[2]


def test_clearing_breaks_the_cache_from_the_first_cleared_block_on(provider):
    """What lies before it is read; what lies behind is written anew."""
    size = ask(provider, rounds(6), cache_control=MARK).usage.cache_creation_input_tokens
    messages = rounds(6)
    messages[0] = {"role": "user", "content": [{"type": "text", "text": "go", "cache_control": MARK}]}
    first = ask(provider, messages, cache_control=MARK)
    assert first.usage.cache_read_input_tokens == size
    cleared = ask(provider, messages, tools(), cache_control=MARK).usage
    assert 0 < cleared.cache_read_input_tokens < size / 4
    assert cleared.cache_creation_input_tokens > 0


def test_thinking_is_cleared_by_turns(fake_provider):
    """The newest turns keep theirs; the default depends on the model; it comes first."""
    provider = fake_provider(lambda call: [THOUGHT, Use("bash")] if call.number % 2 else THOUGHT, prefix_check=True)
    messages = [{"role": "user", "content": "go"}]
    for _ in range(6):
        content = [block.to_dict() for block in ask(provider, messages).content]
        results = [{"type": "tool_result", "tool_use_id": b["id"]} for b in content if b["type"] == "tool_use"]
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results or "go on"}]
    one = {"type": THINKING, "keep": {"type": "thinking_turns", "value": 1}}
    (applied,) = ask(provider, messages, one).context_management.applied_edits
    assert (applied.cleared_thinking_turns, applied.cleared_input_tokens) == (2, 400)
    assert ask(provider, messages, {"type": THINKING, "keep": "all"}).context_management.applied_edits == []
    assert ask(provider, messages, {"type": THINKING}).context_management.applied_edits == []
    (older,) = ask(provider, messages, {"type": THINKING}, model="claude-haiku-4-5").context_management.applied_edits
    assert older.cleared_thinking_turns == 2
    with pytest.raises(anthropic.BadRequestError, match="must be the first edit"):
        ask(provider, messages, tools(), one)
    with pytest.raises(anthropic.BadRequestError, match="greater than or equal to 1"):
        ask(provider, messages, {"type": THINKING, "keep": {"type": "thinking_turns", "value": 0}})


def test_context_management_needs_its_header_and_known_edits(provider, fake_provider):
    """Without the header, or switched off, it is an unknown field; compact_20260112 is not modelled."""
    for other, betas in ((provider, ["another"]), (fake_provider(context_management=False), [HEADER])):
        with pytest.raises(anthropic.BadRequestError, match="context_management: Extra inputs are not permitted"):
            ask(other, rounds(1), tools(), betas=betas)
    with pytest.raises(anthropic.BadRequestError, match="compact_20260112 is not supported by this provider double"):
        ask(provider, rounds(1), {"type": "compact_20260112"})
    with pytest.raises(anthropic.BadRequestError, match=r"clear_tool_uses_20250919\.keeep: Extra inputs"):
        ask(provider, rounds(1), tools(keeep=1))


def deleting(number: int, *ids: str, mark: int = -1, again: list[dict] | None = None) -> list[dict]:
    """Rounds with references before the marked message, and these deletions in the last user message."""
    messages = again or rounds(number)
    for message in messages[:mark]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            block.pop("cache_control", None)
            if block["type"] == "tool_result":
                block["cache_reference"] = block["tool_use_id"]
    last = messages[-1]["content"]
    if ids:
        edits = [{"type": "delete", "cache_reference": id} for id in ids]
        last += [{"type": "cache_edits", "edits": edits}, {"type": "text", "text": "."}]
    messages[mark]["content"][-1]["cache_control"] = MARK
    return messages


@pytest.fixture
def editing(fake_provider):
    """A provider that takes deletions, behind a header."""
    return fake_provider(minimum=1, cache_edits=DELETING)


def test_deletions_free_tokens_and_keep_the_cache(editing):
    """The prefix is still read, less what was deleted; the count is cumulative and 0 in message_delta."""
    before = ask(editing, deleting(5), betas=[DELETING]).usage
    messages = deleting(6, "c0", "c2")
    usage = ask(editing, messages, betas=[DELETING]).usage
    assert usage.cache_read_input_tokens == before.cache_creation_input_tokens - 2 * 101
    assert usage.model_extra["cache_deleted_input_tokens"] == 2 * 101
    grown = deleting(0, "c3", again=messages + rounds(7)[-2:])
    events = list(
        client(editing).beta.messages.create(
            model="claude-opus-5", max_tokens=9, messages=grown, tools=TOOLS, betas=[DELETING], stream=True
        )
    )
    start = events[0].message.usage
    assert start.model_extra["cache_deleted_input_tokens"] == 3 * 101
    assert start.cache_read_input_tokens == usage.cache_read_input_tokens + usage.cache_creation_input_tokens - 101
    assert events[-2].usage.model_extra["cache_deleted_input_tokens"] == 0


def test_deletions_need_the_header(editing, fake_provider):
    """Without it both parts are unknown; cache_edits=True needs none."""
    with pytest.raises(anthropic.BadRequestError, match="Input tag 'cache_edits' found"):
        ask(editing, deleting(3, "c0"))
    with pytest.raises(anthropic.BadRequestError, match="cache_reference: Extra inputs are not permitted"):
        ask(editing, deleting(3))
    ask(fake_provider(cache_edits=True), deleting(3, "c0"))


def _swapped(messages):
    content = messages[-1]["content"]
    content[0], content[1] = content[1], content[0]
    return messages


def _ending(messages):
    messages[-1]["content"].pop()
    messages[-1]["content"][0]["cache_control"] = MARK
    return messages


def _twice_marked(messages):
    messages[0] = {"role": "user", "content": [{"type": "text", "text": "go", "cache_control": MARK}]}
    return messages


MISPLACED = {
    "no such reference": (lambda: deleting(3, "c9"), "no tool_result before it"),
    "not yet cached": (lambda: deleting(3, "c2"), "no tool_result before it"),
    "twice": (lambda: deleting(3, "c0", "c0"), "deleted twice"),
    "before the result": (lambda: _swapped(deleting(3, "c0")), "right after the last tool_result"),
    "at the end": (lambda: _ending(deleting(3, "c0")), "not at the end"),
    "two markers": (lambda: _twice_marked(deleting(3, "c0")), "exactly one cache_control"),
    "an old marker": (lambda: deleting(5, "c0", mark=-4), "on the last or the one before it"),
}


@pytest.mark.parametrize(("messages", "complaint"), MISPLACED.values(), ids=MISPLACED)
def test_deletions_stand_in_their_place(editing, messages, complaint):
    """The placement rules as described publicly."""
    with pytest.raises(anthropic.BadRequestError, match=complaint):
        ask(editing, messages(), betas=[DELETING])
