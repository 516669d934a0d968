"""Chat Completions through a session: prepared, observed, recovered in the same call; all else as without it."""

from __future__ import annotations

import json
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import openai
import pytest
from openai_agent import Clear, agent, history, profile
from trimtab import Ask, ContextOverflow
from trimtab.ask import asking
from trimtab.clients.openai import compacting, session_of
from trimtab.clients.sessions import Sessions
from trimtab.errors import StorageError
from trimtab.session import Session
from trimtab.testing.provider import Fail, FakeProvider, Settings, Text

TOO_LONG = "This model's maximum context length is 3000 tokens. However, your messages resulted in 4000 tokens."
NOW = {"retry-after-ms": "1"}
BIG = 40_000
"""Tokens: what the profile believes, where the provider is to refuse."""


def send(client: openai.OpenAI, messages: list[Any], **more: Any) -> str:
    """One request; the answer's text."""
    return (
        client.chat.completions.create(model="gpt-5.6-sol", messages=messages, **more).choices[0].message.content or ""
    )


def chars(served: Any) -> int:
    """How large a request was."""
    return len(json.dumps(served.body["messages"]))


def dense(text: str) -> int:
    """More tokens than we count."""
    return len(text) * 10 // 19


def test_the_copy_is_a_client_and_the_original_stays_as_it_is(tmp_path: Path) -> None:
    """What is made is of the client's own class; the client it was made from, used before, sends as always."""
    messages = history(20)
    with FakeProvider() as provider, agent(provider, None) as plain:
        send(plain, messages)
        client = compacting(plain, profile(tmp_path, BIG), plugins=[Clear])
        assert isinstance(client, openai.OpenAI)
        assert client.api_key == plain.api_key
        assert send(client, messages).startswith("You said")
        assert session_of(client).request is not None
        send(plain, messages)
        assert [served.body["messages"] for served in provider.served] == [messages] * 3


def test_requests_stay_below_the_window(tmp_path: Path) -> None:
    """An agent whose conversation outgrows the window is never refused, and its usage is observed."""
    messages, path = history(12), profile(tmp_path, 4_000)
    with FakeProvider(settings=Settings(window=4_000)) as provider, agent(provider, path) as client:
        for end in range(3, len(messages) + 1, 2):
            send(client, messages[:end], max_completion_tokens=200)
        assert provider.refused == []
        assert session_of(client).saved().requests == len(provider.served) == 12
        assert 0 < session_of(client).saved().sent_tokens < session_of(client).saved().unshortened_tokens
        assert session_of(client).explain()


def test_a_refused_request_is_sent_again_smaller_until_it_fits(tmp_path: Path) -> None:
    """The caller sees one answer, whatever the window that the profile believes in."""
    with FakeProvider(settings=Settings(window=3_000)) as provider, agent(provider, profile(tmp_path, BIG)) as client:
        assert send(client, history(20)).startswith("You said")
        *refused, answered = (served.status for served in provider.served)
        assert (set(refused), answered) == ({400}, 200)
        assert all(chars(after) < chars(before) for before, after in pairwise(provider.served))


def test_what_cannot_be_made_smaller_is_one_context_overflow(tmp_path: Path) -> None:
    """It comes from the provider's own error."""
    big = [{"role": "user", "content": "word " * 9_000}]
    with FakeProvider(settings=Settings(window=3_000)) as provider, agent(provider, profile(tmp_path, BIG)) as client:
        with pytest.raises(ContextOverflow) as caught:
            send(client, big)
        assert isinstance(caught.value.__cause__, openai.BadRequestError)
        assert caught.value.__cause__.code == "context_length_exceeded"
        assert len(provider.served) == 1


@pytest.mark.parametrize("way", ["accept", "length"])
def test_a_silent_overflow_is_found_in_the_answer(tmp_path: Path, way: Any) -> None:
    """An answer to more than the window, or one cut off before its first word, is none."""
    settings, path = Settings(window=11_500, silent_overflow=way, count=dense), profile(tmp_path, 11_500)
    with FakeProvider(settings=settings) as provider, agent(provider, path) as client:
        assert send(client, history(12)).startswith("You said")  # by our own count 9,400 tokens
        first, last = (served.usage["prompt_tokens"] for served in provider.served if served.usage)
        assert first > 11_500 > last


def test_a_request_of_too_many_bytes_is_sent_again_smaller(tmp_path: Path) -> None:
    """413 has no class of its own in this SDK."""
    settings = Settings(bytes_limit=30_000)
    with FakeProvider(settings=settings) as provider, agent(provider, profile(tmp_path, BIG)) as client:
        assert send(client, history(20)).startswith("You said")
        assert {served.status for served in provider.refused} == {413}


def test_retries_send_what_was_prepared_once_and_an_overflow_among_them_is_recovered(tmp_path: Path) -> None:
    """Each attempt of the SDK's has the same body; after the refusal comes a smaller one, with retries of its own."""
    down = Fail(503, "down", "server_error", headers=NOW)
    refused = Fail(400, TOO_LONG, code="context_length_exceeded")
    path = profile(tmp_path, BIG)
    with FakeProvider([down, refused, down, "done"]) as provider, agent(provider, path, retries=2) as client:
        assert send(client, history(20)) == "done"
        assert [served.status for served in provider.served] == [503, 400, 503, 200]
        bodies = [served.body for served in provider.served]
        assert bodies[0] == bodies[1] != bodies[2] == bodies[3]


def test_other_errors_come_as_they_are(tmp_path: Path) -> None:
    """What a smaller request would not help is raised typed, once."""
    errors = [Fail(401, "no key", "auth"), Fail(429, "Too many tokens per minute", "tokens"), Fail(400, "bad tool")]
    with FakeProvider(errors) as provider, agent(provider, profile(tmp_path, BIG)) as client:
        for error in (openai.AuthenticationError, openai.RateLimitError, openai.BadRequestError):
            with pytest.raises(error) as caught:
                send(client, history(2))
            assert caught.value.__cause__ is None
        assert len(provider.served) == 3


def test_askers_and_trimtab_off_go_out_untouched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are too large here, and neither is prepared or recovered."""
    path = profile(tmp_path, 3_000)
    with FakeProvider(settings=Settings(window=3_000)) as provider, agent(provider, path) as client:
        token = asking.set(Ask("Summarise."))
        with pytest.raises(openai.BadRequestError):
            send(client, history(20))
        asking.reset(token)
        monkeypatch.setenv("TRIMTAB_OFF", "1")
        with pytest.raises(openai.BadRequestError):
            client.chat.completions.create(model="gpt-5.6-sol", messages=history(20), stream=True)
        assert [served.body["messages"] for served in provider.served] == [history(20)] * 2
        assert "stream_options" not in provider.served[-1].body


def test_a_store_that_cannot_be_opened_costs_no_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It goes out as it is, and the log says why."""

    def broken(*_: Any) -> Any:
        raise StorageError("the disk is full")

    monkeypatch.setattr(Sessions, "get", broken)
    with FakeProvider() as provider, agent(provider, profile(tmp_path, 3_000)) as client:
        assert send(client, history(20)).startswith("You said")
        assert provider.served[0].body["messages"] == history(20)
    assert "the disk is full" in caplog.text


@pytest.mark.parametrize("strict", [False, True])
def test_trouble_of_ours_costs_no_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, strict: bool
) -> None:
    """It is logged; where the profile is strict it is raised."""

    def broken(*_: Any) -> Any:
        raise RuntimeError("a fault of ours")

    path = profile(tmp_path, BIG)
    path.write_text(f"{path.read_text()}strict: {str(strict).lower()}\n")
    with FakeProvider() as provider, agent(provider, path) as client:
        for place in ("prepare", "observe"):
            with monkeypatch.context() as patch:
                patch.setattr(Session, place, broken)
                if strict:
                    with pytest.raises(RuntimeError, match="a fault of ours"):
                        send(client, history(2))
                else:
                    assert send(client, history(2)).startswith("You said")
        assert all(served.body["messages"] == history(2) for served in provider.served)
    assert caplog.text.count("as it is: RuntimeError") == (0 if strict else 2)


def test_options_of_one_call_and_unknown_fields_are_kept(tmp_path: Path) -> None:
    """`with_options` gives a client with the same sessions; ``extra_body`` reaches the server."""
    with FakeProvider() as provider, agent(provider, profile(tmp_path, BIG)) as client:
        other = client.with_options(timeout=5).copy(max_retries=1)
        send(other, history(2), extra_body={"top_k": 4}, temperature=0.5)
        assert (provider.served[0].body["top_k"], provider.served[0].body["temperature"]) == (4, 0.5)
        assert session_of(client) is session_of(other)


def test_threads_share_a_client(tmp_path: Path) -> None:
    """Each conversation has a session of its own, and all are answered."""
    said: list[str] = []
    provider = FakeProvider(lambda call: Text(call.text), Settings(window=3_000))
    with provider, agent(provider, profile(tmp_path, BIG)) as client:

        def run(n: int) -> None:
            said.append(send(client, [{"role": "user", "content": f"task {n}"}, *history(12)[1:]]))

        threads = [threading.Thread(target=run, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(said) == [f"task {n}" for n in range(6)]
