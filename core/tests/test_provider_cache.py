"""The fake provider's prompt cache: what is read, what is written, for how long."""

import anthropic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from provider_client import client
from trimtab.testing.provider import FakeProvider, Reply, Settings, Text

pytest_plugins = ["trimtab.testing.provider.fixture"]

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
TOOLS = [{"name": "bash", "description": "d" * 400, "input_schema": {"type": "object"}}]
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}


@pytest.fixture
def provider(fake_provider):
    """A provider that caches nearly everything."""
    return fake_provider(minimum=20)


def text(said: str, marker=None) -> dict:
    """A text block, perhaps with a breakpoint."""
    return {"type": "text", "text": said * 40, **({"cache_control": marker} if marker else {})}


def user(*blocks) -> dict:
    """A message of the user."""
    return {"role": "user", "content": list(blocks)}


def usage(provider, messages, **more):
    """Tokens read, written and fresh of one request."""
    asked = {"model": "m", "max_tokens": 100, **more}
    said = client(provider).messages.create(messages=messages, **asked).usage
    return said.cache_read_input_tokens, said.cache_creation_input_tokens, said.input_tokens


def test_a_breakpoint_is_written_and_read_back(provider):
    """First written, then read; what lies behind the breakpoint is fresh; a marker that moves changes nothing."""
    first = [user(text("aaaa", MARK))]
    _, written, fresh = usage(provider, first)
    assert (written, fresh) == (49, 0)
    longer = [user(text("aaaa"), text("bbbb", MARK), text("c"))]
    read, more, fresh = usage(provider, longer)
    assert (read, more > 0, fresh > 0) == (written, True, True)
    assert usage(provider, longer)[:2] == (written + more, 0)


def test_below_the_minimum_nothing_is_cached(fake_provider):
    """A short prefix is silently not cached."""
    provider = fake_provider(minimum=10_000)
    messages = [user(text("aaaa", MARK))]
    assert usage(provider, messages)[:2] == usage(provider, messages)[:2] == (0, 0)


def test_the_lookback_is_twenty_blocks_its_own_included(provider):
    """Nineteen blocks behind the entry are seen from the breakpoint, twenty are not."""
    head = text("head" * 3)
    _, written, _ = usage(provider, [user({**head, "cache_control": MARK})])
    assert written

    def grown(n):
        return [user(head, *(text(f"{n}{i}") for i in range(n - 1)), text("end", MARK))]

    assert usage(provider, grown(19))[0] == written
    assert usage(provider, grown(20))[0] == 0


def test_an_entry_is_written_at_breakpoints_only(provider):
    """A prefix that was sent, but never marked, cannot be read."""
    usage(provider, [user(text("aaaa"), text("bbbb"), text("cccc", MARK))])
    assert usage(provider, [user(text("aaaa"), text("bbbb", MARK))])[0] == 0


def test_time_runs_from_the_start_and_every_use_renews_it(provider):
    """Five minutes, renewed by a hit; an hour where the marker says so."""
    messages = [user(text("aaaa", MARK))]
    size = usage(provider, messages)[1]
    for _ in range(3):
        provider.clock.advance(290)
        assert usage(provider, messages)[0] == size
    for other in ("bbbb", "cccc"):  # a hit from a breakpoint behind it renews it, too
        provider.clock.advance(290)
        assert usage(provider, [user(text("aaaa"), text(other, MARK))])[0] == size
    provider.clock.advance(301)
    assert usage(provider, messages)[0] == 0
    lasting = [user(text("bbbb", HOUR))]
    size = usage(provider, lasting)[1]
    provider.clock.advance(3500)
    assert usage(provider, lasting)[0] == size


def test_the_clock_starts_with_the_request_not_with_its_answer(fake_provider):
    """A slow answer leaves that much less of the time to live."""
    provider = fake_provider(lambda call: Reply([Text("slow")], delay=0.2 if call.number == 1 else 0), minimum=10)
    messages = [user(text("aaaa", MARK))]
    usage(provider, messages)
    provider.clock.advance(299.9)
    assert usage(provider, messages)[0] == 0


def test_writes_are_split_by_their_time_to_live(provider):
    """An hour for the system prompt, five minutes for the rest; the longer one comes first."""
    answer = client(provider).messages.create(
        model="m", max_tokens=9, system=[text("ssss" * 3, HOUR)], messages=[user(text("aaaa" * 3, MARK))]
    )
    split = answer.usage.cache_creation
    assert split.ephemeral_1h_input_tokens == 134
    assert split.ephemeral_5m_input_tokens == answer.usage.cache_creation_input_tokens - 134
    with pytest.raises(anthropic.BadRequestError, match="must not come after a ttl='5m'"):
        usage(provider, [user(text("a", HOUR))], system=[text("s", MARK)])


def test_at_most_four_breakpoints(provider):
    """Five markers are refused, also inside a result, and an automatic one beside four."""
    four = [user(*(text(f"a{i}", MARK) for i in range(4)))]
    assert usage(provider, four)[1] > 0
    with pytest.raises(anthropic.BadRequestError, match=r"A maximum of 4 blocks .* Found 5"):
        usage(provider, four, system=[text("s", MARK)])
    assert usage(provider, four, cache_control=MARK)[0] > 0
    with pytest.raises(anthropic.BadRequestError, match="all are used"):
        usage(provider, [user(*four[0]["content"], text("b"))], cache_control=MARK)


@pytest.mark.parametrize("marker", [{"type": "forever"}, {"type": "ephemeral", "ttl": "2h"}, {**MARK, "scope": "x"}])
def test_malformed_markers_are_refused(provider, marker):
    """Type, time and fields of a marker are known."""
    with pytest.raises(anthropic.BadRequestError, match="cache_control"):
        usage(provider, [user(text("a", marker))])


def test_the_automatic_breakpoint_is_on_the_last_block(provider):
    """Top-level cache_control reads back a conversation that grows; another ttl on that block is refused."""
    messages = [user(text("aaaa"))]
    size = usage(provider, messages, cache_control=MARK)[1]
    assert size
    assert usage(provider, [*messages, user(text("bbbb"))], cache_control=MARK)[0] == size
    with pytest.raises(anthropic.BadRequestError, match="another ttl"):
        usage(provider, [user(text("aaaa", HOUR))], cache_control=MARK)


CHANGES = {
    "tools": ({"tools": [{**TOOLS[0], "description": "e" * 400}]}, 0),
    "speed": ({"speed": "standard"}, 1),
    "system": ({"system": [text("tttt", MARK)]}, 1),
    "tool_choice": ({"tool_choice": {"type": "none"}}, 2),
    "thinking": ({"thinking": {"type": "adaptive"}}, 2),
    "effort": ({"output_config": {"effort": "low"}}, 2),
    "another model": ({"model": "n"}, 0),
    "an image": ({"messages": [user(text("aaaa", MARK), IMAGE)]}, 2),
    "metadata": ({"metadata": {"user_id": "u"}}, 3),
    "max_tokens": ({"max_tokens": 9}, 3),
    "spelling": ({"messages": [{"role": "user", "content": [{**text("aaaa", MARK), "citations": None}]}]}, 3),
}


@pytest.mark.parametrize(("change", "kept"), CHANGES.values(), ids=CHANGES)
def test_what_a_change_loses(fake_provider, change, kept):
    """Of three breakpoints (tools, system, messages) so many are still read."""
    provider = fake_provider(minimum=1)
    tools = [{**TOOLS[0], "cache_control": MARK}]
    if "tools" in change:
        change = {"tools": [{**change["tools"][0], "cache_control": MARK}]}
    base = {"tools": tools, "system": [text("ssss", MARK)], "messages": [user(text("aaaa", MARK))]}
    sizes = [0]
    for marked in ({"tools": tools}, {"tools": tools, "system": base["system"]}):
        sizes.append(usage(provider, [user(text("?"))], **marked, model=f"as large {len(sizes)}")[1])
    sizes.append(usage(provider, **base)[1])
    assert usage(provider, **{**base, **change})[0] == sizes[kept]


def test_merged_messages_and_answers_are_one_prefix(provider):
    """Where one role's messages are split does not count; nested key order does."""
    usage(provider, [user(text("aaaa"), text("bbbb", MARK))])
    assert usage(provider, [user(text("aaaa")), user(text("bbbb", MARK))])[0] > 0
    call = {"type": "tool_use", "id": "c", "name": "bash", "input": {"a": 1, "b": 2}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "x" * 400, "cache_control": MARK}

    def with_input(value):
        said = {"role": "assistant", "content": [{**call, "input": value}]}
        return [user(text("cccc")), said, user(result)]

    assert usage(provider, with_input({"a": 1, "b": 2}), tools=TOOLS)[1] > 0
    assert usage(provider, with_input({"b": 2, "a": 1}), tools=TOOLS)[0] == 0
    assert usage(provider, with_input({"a": 1, "b": 2}), tools=TOOLS)[0] > 0


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=st.lists(st.lists(st.integers(1, 300), min_size=1, max_size=4), min_size=2, max_size=6))
def test_what_only_grows_is_read_back_whole(turns):
    """An append-only conversation with its breakpoint on the last block reads all that was sent before."""
    from trimtab.testing.provider.messages.cache import Cached, pieces
    from trimtab.testing.provider.messages.parse import parse

    config = Settings(minimum=1)
    provider = FakeProvider(settings=config)
    messages, before = [], 0
    for turn in turns:
        messages.append(user(*({"type": "text", "text": f"{n}" * n} for n in turn)))
        asked = _asked({"model": "m", "max_tokens": 1, "messages": messages, "cache_control": MARK})
        prompt = parse(asked, config)
        units = pieces(prompt, provider.tokens, lambda block: provider.tokens.value(block.shown))
        cached = Cached(prompt, units, provider.entries, config)
        cached.write()
        assert (cached.bill.read, cached.bill.fresh) == (before, 0)
        before += cached.bill.short
        assert before == sum(unit.tokens for unit in units)


def _asked(body):
    from trimtab.testing.provider.endpoint import Asked

    return Asked("messages", "/v1/messages", {}, {}, body, 1_000_000.0)


def test_the_log_adds_up(provider):
    """Billed tokens are those of all answers, and cost what a price table says."""
    from trimtab.models.table import Prices

    messages = [user(text("aaaa", MARK), text("b"))]
    sums = [sum(column) for column in zip(*(usage(provider, messages) for _ in range(3)), strict=True)]
    billed = provider.billed
    assert [billed.read, billed.written, billed.fresh] == sums
    assert billed.hit_rate == sums[0] / sum(sums)
    price = Prices(input=5, output=25, cache_read=0.5, cache_write=6.25, cache_write_1h=10)
    dollars = (sums[0] * 0.5 + sums[1] * 6.25 + sums[2] * 5 + billed.output * 25) / 1e6
    assert billed.cost(price) == pytest.approx(dollars)
