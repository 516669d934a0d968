"""The fake provider as a server: start and stop, the fixture, the command line, what it needs."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import urllib.error
import urllib.request

import pytest
import trimtab.testing.provider
from provider_client import client
from trimtab import load
from trimtab.testing.provider import FakeProvider, Reply, Text

pytest_plugins = ["trimtab.testing.provider.fixture"]

ASK = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}


def post(url: str, data: bytes) -> tuple[int, dict]:
    """Status and JSON of a plain POST, as from any language."""
    request = urllib.request.Request(f"{url}/v1/messages", data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_the_example_of_the_documentation_runs():
    """The module's docstring holds a test; with a small agent it passes."""
    text = trimtab.testing.provider.__doc__
    code = textwrap.dedent(text[text.index("    import anthropic") : text.index("\nWhat it answers")])
    names = {"my_agent": small_agent}
    exec(code, names)
    names["test_my_agent_lists_the_folder"]()


def small_agent(client, said: str) -> str:
    """An agent with one tool, until the model calls none; closes its client."""
    tools = [{"name": "bash", "input_schema": {"type": "object"}}]
    messages = [{"role": "user", "content": said}]
    with client:
        while True:
            answer = client.messages.create(model="m", max_tokens=100, messages=messages, tools=tools)
            calls = [block for block in answer.content if block.type == "tool_use"]
            if not calls:
                return answer.content[0].text
            messages.append({"role": "assistant", "content": answer.content})
            results = [{"type": "tool_result", "tool_use_id": call.id, "content": "a b"} for call in calls]
            messages.append({"role": "user", "content": results})


def test_any_client_can_talk_to_it(fake_provider):
    """Plain HTTP needs no key; what is no JSON object is refused in the vendor's shape."""
    provider = fake_provider()
    assert post(provider.url, json.dumps(ASK).encode())[1]["content"] == [{"type": "text", "text": "You said: hi"}]
    for broken in (b"{", b"[]"):
        status, body = post(provider.url, broken)
        assert (status, body["type"], body["error"]["type"]) == (400, "error", "invalid_request_error")


def test_it_stops_at_once_with_open_connections():
    """A client that keeps its connection, or waits for an answer, does not hold it up; the thread is gone."""
    with FakeProvider(lambda call: Reply([Text("late")], delay=60)) as provider:
        errors = []

        def wait():
            try:
                post(provider.url, json.dumps(ASK).encode())
            except OSError as error:
                errors.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        while not provider.served:
            pass
    waiting.join(5)
    assert errors
    assert not [thread for thread in threading.enumerate() if thread.name == "fake-provider"]
    provider.close()
    assert len(provider.served) == 1


def test_the_log_has_what_came_and_what_went(fake_provider):
    """Body, headers, response, usage, and the provider's clock."""
    provider = fake_provider()
    provider.clock.advance(1_000_000)
    answer = client(provider).messages.create(**ASK, extra_headers={"X-Session": "s1"})
    (served,) = provider.served
    assert served.body == ASK
    assert served.headers["x-session"] == "s1"
    assert served.response == answer.to_dict() | {"stop_sequence": None}
    assert served.usage == served.response["usage"]
    assert abs(served.started - provider.clock.now()) < 60
    assert (served.billed, served.error) == (provider.billed, None)


@pytest.mark.parametrize(
    ("path", "meant"), [("/v1/mesages", "/v1/messages"), ("/chat/completions", "/v1/chat/completions"), ("/x", "/v1/")]
)
def test_a_path_that_there_is_not(fake_provider, path, meant):
    """A 404 in JSON that says what was meant, or what there is, and it stands in the log."""
    provider = fake_provider()
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(urllib.request.Request(provider.url + path, data=b"{}", method="POST"))
    with caught.value as answer:
        said = json.loads(answer.read())["error"]["message"]
    assert f"no such path {path}; " in said
    assert meant in said
    assert [(one.api, one.path, one.status) for one in provider.served] == [("unknown", path, 404)]


def test_what_trimtab_stores_meanwhile_is_the_tests_own(fake_provider, tmp_path):
    """Sessions of the agent that is tested do not end up among the user's."""
    fake_provider()
    assert load("default", env=os.environ).storage.ledger.startswith(f"sqlite:///{tmp_path}")


def test_the_command_serves_and_logs_without_content():
    """It prints its URL, one line per request with sizes, and ends on Ctrl-C."""
    command = [sys.executable, "-m", "trimtab", "fake-provider", "--port", "0", "--window", "1k", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            url = json.loads(process.stdout.readline())["url"]
            post(url, json.dumps(ASK).encode())
            post(url, json.dumps({**ASK, "messages": [{"role": "user", "content": "secret" * 1000}]}).encode())
            lines = [json.loads(process.stdout.readline()) for _ in range(2)]
        finally:
            process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=20)
    assert [(line["api"], line["status"], line["error"]) for line in lines] == [
        ("messages", 200, None),
        ("messages", 400, "invalid_request_error"),
    ]
    assert lines[0]["fresh"] > 0
    assert (rest, errors.strip(), process.returncode) == ("", "", 0)


def test_without_its_extra_it_says_what_to_install():
    """The import names the extra."""
    code = "import sys; sys.modules['starlette'] = None\nimport trimtab.testing.provider"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "trimtab.testing.provider needs starlette" in process.stderr
    assert "pip install 'trimtab[provider]'" in process.stderr
