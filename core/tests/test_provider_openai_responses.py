"""Responses of the fake provider, as the OpenAI SDK sees them: items, pairs, stored and compacted conversations."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from trimtab.testing.provider import FakeProvider, Settings, Text, Think, Use

openai = pytest.importorskip("openai")

MODEL = "gpt-6-sol"
USER = {"role": "user", "content": "What is in a.txt?"}
TOOLS = [{"type": "function", "name": "read", "parameters": {}, "strict": False}, {"type": "custom", "name": "patch"}]
ROUND = [Think("I must read it."), Use("read", {"path": "a.txt"}), Use("patch", {"input": "*** Begin"})]
SEALS = {"include": ["reasoning.encrypted_content"]}
LONG = "lorem ipsum " * 300
"""1 000 tokens of the provider's."""


@contextmanager
def provided(script: Any = None, **settings: Any) -> Iterator[tuple[FakeProvider, Any]]:
    """A provider and a client that never retries."""
    with (
        FakeProvider(script, Settings(**settings)) as provider,
        openai.OpenAI(base_url=provider.url + "/v1", api_key="any", max_retries=0) as client,
    ):
        yield provider, client


def outputs(items: Any, text: str = "Nothing.") -> list[Any]:
    """An output for each call among the items."""
    calls = [item for item in items if item.type in ("function_call", "custom_tool_call")]
    return [{"type": f"{call.type}_output", "call_id": call.call_id, "output": text} for call in calls]


def refused(client: Any, items: list[Any], words: str, error: Any = None, **more: Any) -> Any:
    """The error with which these items are refused."""
    with pytest.raises(error or openai.BadRequestError, match=words) as caught:
        client.responses.create(**({"model": MODEL, "input": items} | more))
    return caught.value


def test_a_tool_loop() -> None:
    """Reasoning, calls of both kinds and text come as items, go back as they are, and results reach the script."""
    seen = []

    def script(call: Any) -> Any:
        seen.append((call.number, call.text, list(call.results)))
        return ROUND if call.number == 1 else "Done."

    with provided(script) as (provider, client):
        first = client.responses.create(model=MODEL, input=[USER], tools=TOOLS, instructions="Be brief.")
        reasoning, function, custom = first.output
        assert (reasoning.summary[0].text, reasoning.encrypted_content) == ("I must read it.", None)
        assert (function.type, function.arguments) == ("function_call", '{"path": "a.txt"}')
        assert (custom.type, custom.input) == ("custom_tool_call", "*** Begin")
        last = client.responses.create(model=MODEL, input=[USER, *first.output, *outputs(first.output)])
        assert (last.output_text, last.status) == ("Done.", "completed")
        assert seen == [(1, USER["content"], []), (2, USER["content"], ["Nothing.", "Nothing."])]
        assert last.usage.model_dump(exclude_unset=True) == provider.served[-1].usage
        assert first.usage.output_tokens_details.reasoning_tokens == 5
        count = client.responses.input_tokens.count(input=[USER], tools=TOOLS, instructions="Be brief.")
        assert count.input_tokens == first.usage.input_tokens
        assert not provider.refused


def test_a_stream_says_what_the_answer_says() -> None:
    """The SDK puts the same items together from a stream; the events are numbered and typed."""
    parts = [*ROUND, Text("That is " + "long " * 30)]
    with provided([parts, parts, parts]) as (_, client):
        ask: dict[str, Any] = {"model": MODEL, "input": [USER], "tools": TOOLS, **SEALS}
        plain = client.responses.create(**ask)
        with client.responses.stream(**ask) as stream:
            final = stream.get_final_response()
        texts = [item.content[0].text for response in (plain, final) for item in response.output[-1:]]
        assert texts[0] == texts[1] == parts[-1].text
        assert [item.type for item in final.output] == [item.type for item in plain.output]
        assert final.output[1].arguments == plain.output[1].arguments
        assert final.usage.total_tokens == plain.usage.total_tokens
        events = list(client.responses.create(**ask, stream=True))
        assert [event.sequence_number for event in events] == list(range(len(events)))
        assert not [event.type for event in events if type(event).__name__ == "BaseModel"]
        deltas = "".join(event.delta for event in events if event.type == "response.custom_tool_call_input.delta")
        assert deltas == "*** Begin"
        assert events[-1].response.output[0].encrypted_content


def test_async() -> None:
    """The asynchronous client gets the same."""

    async def run(url: str) -> list[str]:
        async with openai.AsyncOpenAI(base_url=url + "/v1", api_key="any") as client:
            plain = await client.responses.create(model=MODEL, input="Hello")
            async with client.responses.stream(model=MODEL, input="Hello") as stream:
                return [plain.output_text, (await stream.get_final_response()).output_text]

    with provided() as (provider, _):
        assert asyncio.run(run(provider.url)) == ["You said: Hello"] * 2


def test_pairs() -> None:
    """Reasoning with ids goes with its item and calls with their outputs; without ids only the latter."""
    with provided([ROUND]) as (provider, client):
        made = client.responses.create(model=MODEL, input=[USER], tools=TOOLS, **SEALS).output
        items = [item.model_dump(exclude_none=True) for item in made]
        reasoning, function, custom = items
        results = outputs(made)
        refused(client, [USER, reasoning, *results], f"Item '{reasoning['id']}' of type 'reasoning' was provided witho")
        refused(client, [USER, reasoning], "without its required following item")
        refused(client, [USER, reasoning, custom, results[1]], "without its required following item")
        error = refused(client, [USER, function, custom, *results], f"Item '{function['id']}' of type 'function_call'")
        assert (error.param, error.code) == ("input", None)
        assert f"required 'reasoning' item: '{reasoning['id']}'" in error.message
        refused(client, [USER, *items, results[1]], f"No tool output found for function call {function['call_id']}")
        refused(client, [USER, *items, results[0]], "No tool output found for custom tool call call_")
        refused(client, [USER, results[0]], f"No tool call found for function call output .* {function['call_id']}")
        refused(client, [USER, results[0], *items, results[1]], "No tool call found for function call output")
        refused(client, [USER, *items, *items, *results], "Duplicate item found with id")
        bare = [{name: value for name, value in item.items() if name != "id"} for item in items]
        for kept in (items, bare, bare[1:]):
            client.responses.create(model=MODEL, input=[USER, *kept, *results])
        assert len(provider.refused) == len(provider.served) - 4


def test_shapes() -> None:
    """Wrong roles, parts and missing fields are refused with the place."""
    with provided() as (_, client):
        refused(client, [{"role": "tool", "content": "x"}], "Invalid value: 'tool'")
        part = {"type": "text", "text": "x"}
        assert refused(client, [{"role": "user", "content": [part]}], "'input_text'").param == "input[0].content[0]"
        bad = {"type": "function_call", "call_id": "c", "name": "f"}
        assert refused(client, [bad], "Missing required").param == "input[0].arguments"


def test_stored_conversations() -> None:
    """A stored response is continued by its id and its items by reference; an unstored one is not known."""
    with provided([ROUND]) as (_, client):
        first = client.responses.create(model=MODEL, input=[USER], tools=TOOLS)
        more: dict[str, Any] = {"model": MODEL, "previous_response_id": first.id}
        refused(client, [USER], "No tool output found", **more)
        second = client.responses.create(**more, input=outputs(first.output))
        assert second.usage.input_tokens > first.usage.input_tokens
        references = [{"type": "item_reference", "id": item.id} for item in first.output]
        client.responses.create(model=MODEL, input=[USER, *references, *outputs(first.output)])
        error = refused(client, [USER], "'resp_none' not found", previous_response_id="resp_none")
        assert error.code == "previous_response_not_found"
    with provided([ROUND, ROUND]) as (_, client):
        ask: dict[str, Any] = {"model": MODEL, "input": [USER], "tools": TOOLS, "store": False}
        lost = client.responses.create(**ask)
        refused(client, [USER, *lost.output], "not persisted", openai.NotFoundError)
        refused(client, [USER], "not found", previous_response_id=lost.id)
        kept = client.responses.create(**ask, **SEALS)
        client.responses.create(**(ask | {"input": [USER, *kept.output, *outputs(kept.output)]}))


def test_reasoning_behind_a_changed_prefix_is_removed_silently() -> None:
    """It is reported with its id, weighs nothing, and what was made of the new prefix stays."""
    with provided([ROUND, [Think("Now I know. " * 50), Text("Done.")]], prefix_check=True) as (_, client):
        ask: dict[str, Any] = {"model": MODEL, "tools": TOOLS, "store": False, **SEALS}
        one = client.responses.create(**ask, input=[USER]).output
        history = [USER, *one, *outputs(one, LONG)]
        two = client.responses.create(**ask, input=history)
        assert two.input_transformations == []
        history += two.output
        again = client.responses.create(**ask, input=[*history, USER])
        assert again.input_transformations == []
        shortened = [USER, *one, *outputs(one, "cleared"), *two.output, USER]
        other = client.responses.create(**ask, input=shortened)
        removed = [entry.model_dump() for entry in other.input_transformations]
        id = two.output[0].id
        assert removed == [{"id": id, "action": "removed", "reason": "prefix_mismatch", "type": "reasoning"}]
        assert again.usage.input_tokens - other.usage.input_tokens > 2 * 990 + 150
        client.responses.create(**ask, input=[*shortened[:-1], *other.output, USER])
        tools = client.responses.create(**(ask | {"tools": TOOLS[:1]}), input=[*history, USER])
        assert len(tools.input_transformations) == 2
    with provided([ROUND], foreign_thinking=False) as (_, client):
        made = client.responses.create(model="gpt-5.5", input=[USER], tools=TOOLS).output
        other = client.responses.create(model=MODEL, input=[USER, *made, *outputs(made)])
        assert [entry.reason for entry in other.input_transformations] == ["model_mismatch"]


def test_encrypted_content_is_the_provider_s_own() -> None:
    """Content that the provider did not make is refused."""
    with provided([Think("Hm."), "Done."]) as (_, client):
        made = client.responses.create(model=MODEL, input=[USER], **SEALS).output[0].to_dict()
        made["encrypted_content"] = made["encrypted_content"][:6] + "xx" + made["encrypted_content"][8:]
        answer = {"role": "assistant", "content": "x"}
        refused(client, [USER, made, answer], f"for item {made['id']} could not be verified")
        foreign = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAxx"}
        error = refused(client, [USER, foreign, answer], "could not be verified")
        assert error.code == "invalid_encrypted_content"


def test_compaction_above_a_threshold() -> None:
    """The output starts with a compaction; all before it may be left out, also the reasoning behind it stays valid."""
    settings = {"context_management": [{"type": "compaction", "compact_threshold": 2_500}], **SEALS}
    script = ["Short.", [Think("Hm."), Text("Long.")], "Pruned.", "Whole."]
    with provided(script, prefix_check=True) as (_, client):
        ask: dict[str, Any] = {"model": MODEL, "store": False, **settings}
        below = client.responses.create(**ask, input=[{"role": "user", "content": LONG}])
        assert [item.type for item in below.output] == ["message"]
        history = [{"role": "user", "content": LONG * 3}]
        events = list(client.responses.create(**ask, input=history, stream=True))
        assert "response.compaction.compacting" in [event.type for event in events]
        made = events[-1].response
        assert [item.type for item in made.output] == ["compaction", "reasoning", "message"]
        pruned = client.responses.create(**ask, input=[*made.output, USER])
        whole = client.responses.create(**ask, input=[*history, *made.output, USER])
        assert pruned.input_transformations == whole.input_transformations == []
        assert pruned.usage.input_tokens == whole.usage.input_tokens < 200
    with provided(compaction=False) as (_, client):
        refused(client, [USER], "Unknown parameter: 'context_management'", **settings)


def test_compact() -> None:
    """The endpoint returns all messages of the user and one compaction, which stand for the whole conversation."""
    with provided([ROUND, "Done."], window=5_000) as (provider, client):
        made = client.responses.create(model=MODEL, input=[USER], tools=TOOLS).output
        history = [USER, *made, *outputs(made, LONG)]
        compacted = client.responses.compact(model=MODEL, input=history)
        assert [item.type for item in compacted.output] == ["message", "compaction"]
        assert compacted.usage.input_tokens > 2_000
        assert provider.served[-1].api == "compact"
        output = [item.to_dict(warnings=False) for item in compacted.output]  # the SDK has no type for a user's message
        after = client.responses.create(model=MODEL, input=[*output, USER])
        assert after.output_text == "Done."
        assert after.usage.input_tokens < 200
        with pytest.raises(openai.BadRequestError) as caught:
            client.responses.compact(model=MODEL, input=[{"role": "user", "content": LONG * 6}])
        assert caught.value.code == "context_length_exceeded"


def test_the_cache_is_read_by_items() -> None:
    """A loop that only appends reads all that it sent before, and the bill is the sum of the usages."""
    with provided([ROUND] * 4) as (provider, client):
        history: list[Any] = [{"role": "user", "content": LONG * 2}]
        for number in range(4):
            response = client.responses.create(model=MODEL, input=history, tools=TOOLS, store=False, **SEALS)
            details = response.usage.input_tokens_details
            assert details.cached_tokens + details.cache_write_tokens == response.usage.input_tokens
            assert (details.cached_tokens > 2_000) == (number > 0)
            history += [*response.output, *outputs(response.output)]
        usages = [served.usage["input_tokens"] for served in provider.served]
        assert provider.billed.read + provider.billed.written + provider.billed.fresh == sum(usages)
        assert provider.billed.read == sum(usages[:-1])
        made = [item if isinstance(item, dict) else item.to_dict() for item in history]
        bare = [{name: value for name, value in item.items() if name not in ("id", "status")} for item in made]
        again = client.responses.create(model=MODEL, input=bare, tools=TOOLS)
        assert again.usage.input_tokens_details.cached_tokens == usages[-1], "ids are no part of the text"
