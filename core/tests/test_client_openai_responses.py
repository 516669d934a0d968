"""Responses through a session: input and instructions, reasoning beside its items, and where it steps aside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openai
from openai_agent import agent, items, profile
from trimtab.clients.openai import session_of
from trimtab.profile import load
from trimtab.testing.provider import Call, FakeProvider, Settings, Think, Use

TOOL = {"type": "function", "name": "read_file", "parameters": {"type": "object"}, "strict": False}


def works(rounds: int) -> Any:
    """A model that thinks and reads that many files before it is done."""

    def answer(call: Call) -> Any:
        n = call.number
        return [Think(f"file {n} is next"), Use("read_file", {"path": f"src/f{n}.py"})] if n <= rounds else "done"

    return answer


def run(client: openai.OpenAI, rounds: int) -> str:
    """An agent that keeps its own history, as its clients do for stateless requests."""
    history: list[Any] = [{"role": "user", "content": "Read the files."}]
    for n in range(rounds + 1):
        answer = client.responses.create(
            model="gpt-5.6-sol",
            input=history,
            instructions="Be brief.",
            tools=[TOOL],  # type: ignore[list-item]
            store=False,
            include=["reasoning.encrypted_content"],
        )
        history += answer.output
        for item in answer.output:
            if item.type == "function_call":
                result = {"type": "function_call_output", "call_id": item.call_id, "output": f"line {n} of it\n" * 120}
                history.append(result)
    return answer.output_text


def test_an_agent_with_reasoning_stays_below_the_window(tmp_path: Path) -> None:
    """No request is refused, for its size or for reasoning without its item; instructions and tools go out as said."""
    provider = FakeProvider(works(14), Settings(window=5_000, max_output=500))
    with provider, agent(provider, profile(tmp_path, 4_500)) as client:
        assert run(client, 14) == "done"
        assert [served.error for served in provider.served if served.error] == []
        assert {served.body["instructions"] for served in provider.served} == {"Be brief."}
        assert session_of(client).saved().requests == 15
        assert session_of(client).explain()
        kinds = [item.get("type") for item in provider.served[-1].body["input"]]
        assert kinds.count("reasoning") == kinds.count("function_call") == kinds.count("function_call_output")


def test_a_text_as_input_stays_a_text(tmp_path: Path) -> None:
    """It is a conversation all the same: observed, and known again as a message."""
    with FakeProvider() as provider, agent(provider, profile(tmp_path, 40_000)) as client:
        client.responses.create(model="gpt-5.6-sol", input="Hello.")
        said: Any = [{"role": "user", "content": "Hello."}]
        client.responses.create(model="gpt-5.6-sol", input=said)
        assert [served.body["input"] for served in provider.served] == ["Hello.", said]
        assert all(served.body.keys() == {"model", "input"} for served in provider.served)
        assert session_of(client).saved().requests == 2


def test_a_refused_request_is_sent_again_smaller(tmp_path: Path) -> None:
    """Also where the refusal tells no sizes."""
    with (
        FakeProvider(settings=Settings(window=5_000)) as provider,
        agent(provider, profile(tmp_path, 15_000)) as client,
    ):
        assert client.responses.create(model="gpt-5.6-sol", input=items(12)).output_text.startswith("You said")
        assert session_of(client).saved().requests == 1
        sizes = [len(json.dumps(served.body["input"])) for served in provider.served]
        assert len(sizes) > 1
        assert sizes == sorted(set(sizes), reverse=True)


def test_the_beta_endpoint_is_the_same_one(tmp_path: Path) -> None:
    """`beta.responses` differs in its query only; ``extra_body`` may bring the input, past the SDK's checks."""
    with FakeProvider(settings=Settings(window=5_000)) as provider, agent(provider, profile(tmp_path, 5_000)) as client:
        client.beta.responses.create(model="gpt-5.6-sol", input="", extra_body={"input": items(12)})
        assert [served.status for served in provider.served] == [200]
        assert len(provider.served[0].body["input"]) == len(items(12))
        assert session_of(client).explain()


def test_what_the_server_holds_is_left_alone(tmp_path: Path) -> None:
    """With ``previous_response_id`` or ``conversation`` a request is only a part, and goes out as it is."""
    with FakeProvider() as provider, agent(provider, profile(tmp_path, 3_000)) as client:
        first = client.responses.create(model="gpt-5.6-sol", input="Hello.")
        known = session_of(client).request
        client.responses.create(model="gpt-5.6-sol", input=items(12), previous_response_id=first.id)
        assert provider.served[-1].body["input"] == items(12)
        client.responses.create(model="gpt-5.6-sol", input=items(12), conversation="conv_1")
        assert provider.served[-1].body["input"] == items(12)
        assert session_of(client).request is known


def test_truncation_stays_as_the_caller_set_it(tmp_path: Path) -> None:
    """The server's own way to make room is not switched on or off."""
    with FakeProvider(settings=Settings(window=40_000)) as provider:
        with agent(provider, profile(tmp_path, 40_000)) as client:
            client.responses.create(model="gpt-5.6-sol", input=items(2), truncation="auto")
            client.responses.create(model="gpt-5.6-sol", input=items(2))
        assert [served.body.get("truncation") for served in provider.served] == ["auto", None]


def test_a_profile_that_was_read_serves_both_endpoints(tmp_path: Path) -> None:
    """Whatever ``kind`` it names: the endpoint decides."""
    read: Any = load("minimal", overrides={"provider": {"kind": "anthropic", "window": 40_000}})
    with FakeProvider() as provider, agent(provider, read) as client:
        client.responses.create(model="gpt-5.6-sol", input=items(3))
        assert session_of(client).dialect.name == "responses"
        client.chat.completions.create(model="gpt-5.6-sol", messages=[{"role": "user", "content": "Hi."}])
        assert session_of(client).dialect.name == "openai"
        assert provider.refused == []
