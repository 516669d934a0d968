"""Which session a request of the OpenAI client belongs to."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import openai
import pytest
from openai_agent import agent, async_agent, history, profile
from trimtab.clients.identity import identify
from trimtab.clients.openai import compacting, saved_by, session_of, wrapped_session
from trimtab.errors import Unknown
from trimtab.testing.provider import FakeProvider

WINDOW = 40_000


def used(tmp_path: Path, chosen: Any = None, **request: Any) -> str:
    """The id of the session of one request."""
    with FakeProvider() as provider, agent(provider, profile(tmp_path, WINDOW), session=chosen) as client:
        client.chat.completions.create(model="gpt-5.6-sol", messages=history(1), **request)
        assert session_of(client) is session_of(client, session_of(client).id)
        with pytest.raises(Unknown, match="'elsewhere'"):
            session_of(client, "elsewhere")
        return session_of(client).id


def test_the_context_comes_first_then_the_caller_s_choice_then_the_request(tmp_path: Path) -> None:
    """Each is asked only where the one before it tells nothing."""
    request = {"metadata": {"session_id": "meta", "conversation_id": "other"}}
    with wrapped_session("context"):
        assert used(tmp_path, "chosen", **request) == "context"
    assert used(tmp_path, "chosen", **request) == "chosen"
    assert used(tmp_path, lambda body: body["model"], **request) == "gpt-5.6-sol"
    assert used(tmp_path, lambda body: None, **request) == "meta"
    assert used(tmp_path, metadata={"conversation_id": "other"}) == "other"


def test_without_a_name_the_first_message_tells_it(tmp_path: Path) -> None:
    """The same conversation has one session, another one has another, whatever the system text."""
    with FakeProvider() as provider, agent(provider, profile(tmp_path, WINDOW)) as client:
        ids = []
        for said in (history(1), history(3), [{"role": "system", "content": "x"}, *history(1)], history(1)[:1] * 2):
            client.chat.completions.create(model="gpt-5.6-sol", messages=said)
            ids.append(session_of(client).id)
        other: Any = [{"role": "user", "content": "Something else."}]
        client.chat.completions.create(model="gpt-5.6-sol", messages=other)
        assert set(ids) == {ids[0]} != {session_of(client).id}


def test_what_was_saved_stays_when_a_session_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More conversations than are kept open: all that the provider billed is counted."""
    monkeypatch.setattr("trimtab.clients.sessions.MOST", 1)
    with FakeProvider() as provider, agent(provider, profile(tmp_path, WINDOW)) as client:
        for id in "abab":
            with wrapped_session(id):
                client.chat.completions.create(model="gpt-5.6-sol", messages=history(1))
        billed = provider.billed
        assert saved_by(client).requests == 4
        assert saved_by(client).sent_tokens == billed.read + billed.written + billed.fresh


def test_a_context_is_that_of_its_task(tmp_path: Path) -> None:
    """Two tasks side by side each have their own."""

    async def main() -> None:
        with FakeProvider() as provider:
            async with async_agent(provider, profile(tmp_path, WINDOW)) as client:

                async def ask(id: str) -> None:
                    with wrapped_session(id):
                        await asyncio.sleep(0)
                        await client.chat.completions.create(model="gpt-5.6-sol", messages=history(1))

                await asyncio.gather(ask("a"), ask("b"))
                assert [session_of(client, id).id for id in ("a", "b")] == ["a", "b"]

    asyncio.run(main())


def test_what_is_no_name_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Empty texts and other values are passed over; a callable that raises is logged."""

    def broken(body: Any) -> str:
        raise KeyError("session")

    assert identify(broken, {}, ["", None, 7, "last"]) == "last"
    assert "KeyError" in caplog.text
    assert identify("", {}) is None


def test_what_is_no_argument_is_an_error_at_once() -> None:
    """It says what, the nearest right one, and what there are; so does a session that is no id."""
    plain = openai.OpenAI(api_key="any", base_url="http://localhost:1")
    with pytest.raises(TypeError, match="no argument 'stagetools'; did you mean 'stage_tools'"):
        compacting(plain, "minimal", stagetools=True)
    wrong: Any = 7
    with pytest.raises(TypeError, match="session is an id"):
        compacting(plain, "minimal", session=wrong)


def test_an_unknown_model_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """With the window that is taken for it; where the profile says one, nothing is told."""
    stated, unstated = profile(tmp_path, WINDOW), tmp_path / "unstated.yaml"
    unstated.write_text(stated.read_text().replace(f"window: {WINDOW}, ", ""))
    for path, told in ((unstated, 1), (stated, 0)):
        caplog.clear()
        with FakeProvider() as provider, agent(provider, path) as client:
            for _ in range(2):
                client.chat.completions.create(model="qwen-foo", messages=history(1))
        assert caplog.text.count("the model 'qwen-foo' is not known: taken is a window of 200,000 tokens") == told


def test_what_is_known_without_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing went through a session, nothing was saved, and the error says what may be the reason."""
    monkeypatch.setenv("TRIMTAB_OFF", "1")
    with FakeProvider() as provider, agent(provider, profile(tmp_path, WINDOW)) as client:
        client.chat.completions.create(model="gpt-5.6-sol", messages=history(1))
        assert saved_by(client).requests == 0
        with pytest.raises(Unknown, match="TRIMTAB_OFF"):
            session_of(client)


def test_inside_a_block_its_session_is_meant(tmp_path: Path) -> None:
    """Whatever came last; `saved_by` adds all of them up."""
    with FakeProvider() as provider, agent(provider, profile(tmp_path, WINDOW)) as client:
        for id in ("a", "b"):
            with wrapped_session(id):
                client.chat.completions.create(model="gpt-5.6-sol", messages=history(1))
        with wrapped_session("a"):
            assert session_of(client).id == "a"
        assert session_of(client).id == "b"
        assert saved_by(client).requests == 2
