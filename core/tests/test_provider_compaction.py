"""The fake provider's compaction on demand: the signed block, its cost, its rules."""

import anthropic
import pytest
from provider_client import client
from trimtab.testing.provider import Fail, Text, Think, Use

pytest_plugins = ["trimtab.testing.provider.fixture"]

HEADER = "compact-2026-09-04"
TOOLS = [{"name": "bash", "input_schema": {"type": "object"}}]
COMPACT = {"type": "summarize"}
START = [{"role": "user", "content": "go " * 100}]


def script(call):
    """Summaries where asked, else a thought and a call."""
    if call.api == "compact":
        return Text(f"Summary {call.number}")
    return [Think(f"t{call.number}"), Use("bash", {"n": call.number})]


def ask(provider, messages, *, betas=(HEADER,), **more):
    """One beta request."""
    asked = {"model": "claude-opus-5-5", "max_tokens": 1000, "tools": TOOLS, "system": "Be brief.", **more}
    return client(provider).beta.messages.create(messages=messages, betas=list(betas), **asked)


def talk(provider, messages, requests):
    """The messages after so many more requests."""
    for _ in range(requests):
        content = [block.to_dict() for block in ask(provider, messages).content]
        result = {"type": "tool_result", "tool_use_id": content[-1]["id"], "content": "out"}
        messages = [*messages, {"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
    return messages


@pytest.fixture
def provider(fake_provider):
    """One that checks prefixes and caches everything."""
    return fake_provider(script, prefix_check=True, minimum=1)


def block(provider, messages, **more):
    """The compaction block for these messages."""
    return ask(provider, messages, compaction=COMPACT, **more).content[0].to_dict()


def test_the_block_stands_for_the_messages_and_kept_thinking_stays_valid(provider):
    """Compact what was sent, put the block first, keep what followed: the next request is accepted, and smaller."""
    messages = talk(provider, START, 4)
    summarised = messages[:-2]
    answer = ask(provider, summarised, compaction=COMPACT)
    assert answer.stop_reason == "compaction"
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (0, 0)
    (iteration,) = answer.usage.iterations
    assert (iteration.type, iteration.output_tokens) == ("compaction", provider.served[-1].billed.output)
    assert iteration.input_tokens == provider.billed.fresh - sum(s.billed.fresh for s in provider.served[:-1])
    first = {"role": "user", "content": [answer.content[0].to_dict()]}
    shorter = [first, *messages[-2:]]
    assert ask(provider, shorter).usage.input_tokens < iteration.input_tokens
    talk(provider, shorter, 2)
    changed = {"system": "Be long."}
    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        ask(provider, shorter, **changed)


def test_kept_turns_follow_directly(provider):
    """A tail that does not follow, or starts with the role that was summarised last, loses its thinking."""
    messages = talk(provider, START, 4)
    made = block(provider, messages[:-2])
    skipping = block(provider, messages[:-4])
    more = {"role": "user", "content": "more"}
    split = [*talk(provider, [*messages, more], 1)]
    tails = [(skipping, messages[-2:]), (made, [more, *messages[-2:]]), (block(provider, messages), split[-3:])]
    for first, kept in tails:
        with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
            ask(provider, [{"role": "assistant", "content": [first]}, *kept])


def test_a_conversation_is_compacted_again(provider):
    """A request that carries a block can be compacted; the new block replaces the old one."""
    messages = talk(provider, START, 3)
    shorter = [{"role": "assistant", "content": [block(provider, messages[:-2])]}, *messages[-2:]]
    longer = talk(provider, shorter, 2)
    again = [{"role": "assistant", "content": [block(provider, longer[:-2])]}, *longer[-2:]]
    assert ask(provider, again).content


def test_compaction_reads_the_cache(provider):
    """The request's prefix is the conversation's."""
    messages = talk(provider, START, 2)
    written = ask(provider, messages, cache_control={"type": "ephemeral"}).usage.cache_creation_input_tokens
    answer = ask(provider, messages, compaction=COMPACT, cache_control={"type": "ephemeral"})
    assert answer.usage.iterations[0].cache_read_input_tokens == written > 0


def test_a_streamed_block_arrives_whole(provider):
    """In content_block_start, without deltas; the cost in the last delta."""
    events = list(
        client(provider).beta.messages.create(
            model="m", max_tokens=99, messages=START, compaction=COMPACT, betas=[HEADER], stream=True
        )
    )
    kinds = [event.type for event in events]
    assert kinds == ["message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"]
    assert events[1].content_block.content == "Summary 1"
    assert events[1].content_block.signature
    assert events[3].delta.stop_reason == "compaction"
    assert events[3].usage.iterations[0].type == "compaction"


def test_without_a_script_there_is_a_summary_all_the_same(fake_provider):
    """A list is not used up by requests for a summary."""
    provider = fake_provider(["the answer"])
    assert block(provider, START)["content"].startswith("The user said last: go go")
    assert ask(provider, START).content[0].text == "the answer"


@pytest.mark.parametrize(
    ("said", "stop"), [([Use("bash")], "tool_use"), (Text(" "), "end_turn"), (Text("x" * 9999), "max_tokens")]
)
def test_no_summary_is_an_empty_answer(fake_provider, said, stop):
    """Status 200, no content, and the reason."""
    answer = ask(fake_provider(lambda call: said), START, compaction=COMPACT)
    assert (answer.content, answer.stop_reason) == ([], stop)


def test_a_request_for_a_summary_can_fail(fake_provider):
    """529 compaction_unavailable has its own class."""
    busy = fake_provider(lambda call: Fail(529, "try later", "overloaded_error", code="compaction_unavailable"))
    with pytest.raises(anthropic.OverloadedError) as caught:
        ask(busy, START, compaction=COMPACT)
    assert type(caught.value).__name__ == "CompactionUnavailableError"
    with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
        ask(fake_provider(window=50), START, compaction=COMPACT)


def _codes(made):
    rest = [*START]
    first = {"role": "user", "content": [made]}
    return {
        "compaction_block_misplaced": [*rest, {"role": "assistant", "content": [made]}, *rest],
        "compaction_block_ambiguous": [first, {"role": "assistant", "content": [made]}, *rest],
        "compaction_signature_invalid": [{"role": "user", "content": [{**made, "signature": "x"}]}, *rest],
        "compaction_content_mismatch": [{"role": "user", "content": [{**made, "content": "x"}]}, *rest],
    }


@pytest.mark.parametrize("code", _codes({}))
def test_wrong_blocks_have_their_error_codes(provider, code):
    """details.error_code selects the SDK's typed class."""
    with pytest.raises(anthropic.BadRequestError) as caught:
        ask(provider, _codes(block(provider, START))[code])
    assert caught.value.error_code == code
    assert type(caught.value).__name__ == "".join(word.capitalize() for word in code.split("_")) + "Error"


def test_the_block_is_returned_as_it_came(provider):
    """Null fields that a dump adds are refused; so is the block without its header; a failed block has no effect."""
    made = block(provider, START)
    for extra in ({"citations": None}, {"text": None}):
        with pytest.raises(anthropic.BadRequestError, match="Extra inputs are not permitted"):
            ask(provider, [{"role": "user", "content": [{**made, **extra}]}, *START])
    with pytest.raises(anthropic.BadRequestError, match="Input tag 'compaction' found"):
        ask(provider, [{"role": "user", "content": [made]}, *START], betas=["another"])
    ask(provider, [*START, {"role": "assistant", "content": [{"type": "compaction", "content": None}]}, *START])


BAD = {
    "context_management": {"context_management": {"edits": []}},
    "stop_sequences": {"stop_sequences": ["x"]},
    "output_config.format": {"output_config": {"format": {"type": "json_schema", "schema": {}}}},
    "output_config.task_budget.remaining": {"output_config": {"task_budget": {"total": 9, "remaining": 1}}},
    "tool_choice": {"tool_choice": {"type": "any"}},
}


@pytest.mark.parametrize(("name", "fields"), BAD.items(), ids=BAD)
def test_what_compaction_is_not_combined_with(provider, name, fields):
    """Each is a 400 that names the other parameter."""
    with pytest.raises(anthropic.BadRequestError, match=f"cannot be combined with `{name}`"):
        ask(provider, START, compaction=COMPACT, **fields)


def test_what_cannot_be_summarised(provider, fake_provider):
    """An unfinished turn, nothing at all, long instructions, and a server without it."""
    unfinished = talk(provider, START, 1)[:-1]
    with pytest.raises(anthropic.BadRequestError) as caught:
        ask(provider, unfinished, compaction=COMPACT)
    assert caught.value.error_code == "compaction_incomplete_turn"
    with pytest.raises(anthropic.BadRequestError, match="at most 16384 characters"):
        ask(provider, START, compaction={**COMPACT, "instructions": "x" * 16_385})
    for other, betas in ((fake_provider(compaction=False), [HEADER]), (provider, ["another"])):
        with pytest.raises(anthropic.BadRequestError, match="compaction: Extra inputs are not permitted"):
            ask(other, START, compaction=COMPACT, betas=betas)
