"""The fake provider's thinking blocks: signatures, the latest answer, and the prefix check."""

import copy

import anthropic
import pytest
from provider_client import client
from trimtab.testing.provider import Text, Think, Use

pytest_plugins = ["trimtab.testing.provider.fixture"]

TOOLS = [{"name": "bash", "input_schema": {"type": "object"}}]
HEADER = "thinking-binding-controls-2026-08-01"
MOVED = "Invalid `signature` in `thinking` block. The block is bound to a different conversation"


def think(call):
    """Two rounds of tools, each thought about twice, then an answer; over and over."""
    if call.number % 3:
        return [Think(f"first {call.number}"), Think(f"second {call.number}"), Use("bash", {"n": call.number})]
    return [Think(f"last {call.number}"), Text(f"done {call.number}")]


def ask(provider, messages, *, drop=None, **more):
    """One beta request; `drop` is what block_binding says."""
    if drop is not None:
        more |= {
            "betas": [HEADER],
            "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": drop}},
        }
    asked = {"model": "claude-opus-5-5", "max_tokens": 1000, "tools": TOOLS, "system": "Be brief.", **more}
    return client(provider).beta.messages.create(messages=messages, **asked)


def talk(provider, requests=6, messages=None):
    """A conversation of that many requests: all messages, ready for the next one."""
    messages = messages or [{"role": "user", "content": "go"}]
    for _ in range(requests):
        content = [block.to_dict() for block in ask(provider, messages).content]
        messages.append({"role": "assistant", "content": content})
        calls = [block["id"] for block in content if block["type"] == "tool_use"]
        results = [{"type": "tool_result", "tool_use_id": id, "content": f"out of {id}"} for id in calls]
        messages.append({"role": "user", "content": results or [{"type": "text", "text": "go on"}]})
    return messages


def without(messages, wanted):
    """The messages without the thinking blocks, counted through, that ``wanted`` says."""
    count = iter(range(10_000))

    def keep(block):
        return block["type"] != "thinking" or not wanted(next(count))

    return [{**m, "content": [b for b in m["content"] if keep(b)] if isinstance(m["content"], list) else m["content"]}
            for m in copy.deepcopy(messages)]  # fmt: skip


@pytest.fixture
def free(fake_provider):
    """A provider that checks signatures only."""
    return fake_provider(think)


@pytest.fixture
def bound(fake_provider):
    """A provider with the prefix check."""
    return fake_provider(think, prefix_check=True)


@pytest.mark.parametrize("field", ["thinking", "signature"])
def test_an_altered_block_is_refused(free, field):
    """Text and signature are bound to each other, wherever the block lies."""
    messages = talk(free)
    messages[1]["content"][0][field] += "x"
    with pytest.raises(anthropic.BadRequestError, match=r"messages.1.content.0: Invalid `signature` in `thinking`"):
        ask(free, messages)


def test_the_latest_answers_thinking_is_whole(free):
    """Partly removed or reordered there is refused; elsewhere, or all of it, may go."""
    messages = talk(free, 2)
    latest = messages[-2]["content"]
    for broken in (latest[1:], [latest[1], latest[0], latest[2]]):
        with pytest.raises(anthropic.BadRequestError, match="latest assistant message cannot be modified"):
            ask(free, [*messages[:-2], {"role": "assistant", "content": broken}, messages[-1]])
    ask(free, without(messages, lambda n: n == 0))
    ask(free, without(messages, lambda n: True))


def test_a_strict_round_needs_its_thinking(fake_provider):
    """The unsettled point as a switch: all thinking of an open round removed."""
    strict = fake_provider(think, strict_round=True)
    messages = talk(strict, 2)
    with pytest.raises(anthropic.BadRequestError, match="latest assistant message cannot be modified"):
        ask(strict, without(messages, lambda n: True))
    ask(strict, without(messages, lambda n: n < 2))


def test_legacy_thinking_wants_it_first(free):
    """thinking: enabled needs the open round's answer to start with its thinking."""
    messages = without(talk(free, 1), lambda n: True)
    with pytest.raises(anthropic.BadRequestError, match=r"Expected `thinking` or .*, but found `tool_use`"):
        ask(free, messages, thinking={"type": "enabled", "budget_tokens": 1024})


def test_another_models_thinking_is_a_switch(fake_provider, free):
    """Accepted by default, refused where the setting says so."""
    ask(free, talk(free), model="claude-haiku-5-5")
    picky = fake_provider(think, foreign_thinking=False)
    with pytest.raises(anthropic.BadRequestError, match="Invalid `signature`"):
        ask(picky, talk(picky), model="claude-haiku-5-5")


def test_thinking_can_be_omitted_and_weighs_the_same(free):
    """display: omitted sends an empty text with a full signature; the tokens are those of what was thought."""
    messages = [{"role": "user", "content": "go"}]
    content = ask(free, messages, thinking={"type": "adaptive", "display": "omitted"}).content
    assert [block.thinking for block in content[:2]] == ["", ""]
    assert len(content[0].signature) > 200
    result = {"type": "tool_result", "tool_use_id": content[2].id, "content": "x"}
    shown = talk(free, 1)
    sent = [*messages, {"role": "assistant", "content": [block.to_dict() for block in content]}]
    sizes = [
        ask(free, [*part, {"role": "user", "content": [{**result, "tool_use_id": part[1]["content"][2]["id"]}]}])
        for part in (sent, shown[:2])
    ]
    assert sizes[0].usage.input_tokens == sizes[1].usage.input_tokens


def first(messages, **fields):
    """The messages with other fields in the first message's text block."""
    return [{"role": "user", "content": [{"type": "text", "text": "go", **fields}]}, *messages[1:]]


def edited(messages, at, block, **fields):
    """The messages with other fields in one block."""
    messages = copy.deepcopy(messages)
    messages[at]["content"][block] |= fields
    return messages


HARMLESS = {
    "as it was": lambda m: m,
    "appended": lambda m: [*m, {"role": "user", "content": "more"}],
    "a marker": lambda m: first(m, cache_control={"type": "ephemeral"}),
    "nulls": lambda m: first(m, citations=None),
    "no thinking at all": lambda m: without(m, lambda n: True),
    "none at the start": lambda m: without(m, lambda n: n < 3),
    "none at the end": lambda m: without(m, lambda n: n > 5),
    "key order": lambda m: [dict(reversed(message.items())) for message in m],
}


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS)
def test_harmless_changes_pass_the_prefix_check(bound, change):
    """What the vendor lists as harmless is."""
    assert ask(bound, change(talk(bound))).content


BREAKING = {
    "a result": (lambda m: edited(m, 2, 0, content="cleared"), "messages.3.content.0"),
    "an input": (lambda m: edited(m, 1, 2, input={}), "messages.3.content.0"),
    "the first message": (lambda m: first(m, text="go!"), "messages.1.content.0"),
    "a dropped turn": (lambda m: m[6:], "messages.1.content.0"),
    "a hole": (lambda m: without(m, lambda n: n == 2), "messages.3.content.0"),
}


@pytest.mark.parametrize(("change", "path"), BREAKING.values(), ids=BREAKING)
def test_other_changes_break_the_first_block_behind_them(bound, free, change, path):
    """The same 400 for ever; a provider without the check takes them."""
    messages = change(talk(bound))
    for _ in range(2):
        with pytest.raises(anthropic.BadRequestError) as caught:
            ask(bound, messages)
        assert caught.value.body["error"]["message"].startswith(f"{path}: {MOVED}")
    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        client(bound).messages.count_tokens(model="m", messages=messages, tools=TOOLS, system="Be brief.")
    ask(free, change(talk(free)))


@pytest.mark.parametrize("change", [{"system": "Be long."}, {"tools": [*TOOLS, {"name": "b", "input_schema": {}}]}])
def test_system_and_tools_are_part_of_the_prefix(bound, change):
    """Another system prompt or tool breaks all; a tool that is loaded later does not."""
    messages = talk(bound)
    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        ask(bound, messages, **change)
    later = {"name": "later", "input_schema": {"type": "object"}, "defer_loading": True}
    ask(bound, messages, tools=[*TOOLS, later])


def test_a_removed_block_never_returns(bound):
    """What was made without it in front does not accept it there later."""
    messages = talk(bound, 3)
    longer = talk(bound, 3, without(messages, lambda n: n < 2))
    ask(bound, longer)
    returned = [*messages, *longer[len(messages) :]]
    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        ask(bound, returned)


def test_drop_block_drops_and_says_so(bound):
    """With the header the mismatching blocks go, in JSON and in a stream, and what follows stays valid."""
    messages = edited(talk(bound), 2, 0, content="cleared")
    answer = ask(bound, messages, drop="drop_block")
    dropped = [entry.path for entry in answer.input_transformations]
    places = [(3, 0), (3, 1), (5, 0), (7, 0), (7, 1), (9, 0), (9, 1), (11, 0)]
    assert dropped == [f"messages.{i}.content.{j}" for i, j in places]
    assert {entry.reason for entry in answer.input_transformations} == {"prefix_binding_mismatch"}
    with client(bound).beta.messages.stream(
        model="claude-opus-5-5", max_tokens=9, tools=TOOLS, system="Be brief.", messages=messages, betas=[HEADER],
        thinking={"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
    ) as stream:  # fmt: skip
        start = next(iter(stream))
    assert [entry.path for entry in start.message.input_transformations] == dropped
    content = [block.to_dict() for block in answer.content]
    result = {"type": "tool_result", "tool_use_id": content[-1]["id"], "content": "out"}
    after = [*messages, {"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
    assert [entry.path for entry in ask(bound, after, drop="drop_block").input_transformations] == dropped
    assert ask(bound, talk(bound, 3), drop="drop_block").input_transformations == []


def test_block_binding_needs_its_header(bound):
    """Without the header the field is unknown; "error" is the default; other words are refused."""
    binding = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    with pytest.raises(anthropic.BadRequestError, match="block_binding: Extra inputs are not permitted"):
        ask(bound, talk(bound, 1), thinking=binding)
    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        ask(bound, edited(talk(bound), 2, 0, content="cleared"), drop="error")
    with pytest.raises(anthropic.BadRequestError, match="prefix_mismatch_behavior"):
        ask(bound, talk(bound, 1), drop="keep")
