"""`conversations` gives what agents send, in both dialects, and shrinks; importing the package needs no pytest."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, find, given, settings
from trimtab.parts import part
from trimtab.testing import conversations
from trimtab.testing.contract import DIALECTS

STILL = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
SOUGHT = {
    "parallel calls": lambda text: text.count("call_1_") >= 4,
    "thinking": lambda text: any(word in text for word in ("signature", "reasoning_content", '"reasoning"')),
    "an interrupt": lambda text: "interrupted" in text,
    "a picture": lambda text: "iVBOR" in text,
    "an error": lambda text: "is_error" in text or "Error: " in text,
    "a lone surrogate": lambda text: "half \\ud83d" in text,
    "Chinese": lambda text: "\\u9519" in text,
    "emoji": lambda text: "\\u200d" in text,
    "a system message in between": lambda text: '"role": "system"' in text[200:],
    "a huge result": lambda text: len(text) > 40_000,
    "an empty result": lambda text: '"content": ""' in text or '"output": ""' in text,
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_conversations_hold_what_agents_send(dialect: str) -> None:
    """Each kind of content turns up among some hundred conversations."""
    missing = set(SOUGHT)

    @settings(STILL, max_examples=400)
    @given(conversations(dialect))
    def look(messages: list[Any]) -> None:
        text = json.dumps(messages)
        missing.difference_update([what for what in missing if SOUGHT[what](text)])

    look()
    assert missing == set()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_unbroken_conversations_need_few_repairs(dialect: str) -> None:
    """Without the switch only interrupts and half characters break a rule; with it many conversations do."""
    validate, bad = part("dialect", dialect)().validate, []

    @STILL
    @given(conversations(dialect))
    def sound(messages: list[Any]) -> None:
        text = json.dumps(messages)
        assert "interrupted" in text or "half" in text or not [one for one in validate(messages) if one.certain]

    @STILL
    @given(conversations(dialect, broken=True))
    def broken(messages: list[Any]) -> None:
        bad.append(any(one.certain for one in validate(messages)))

    sound()
    broken()
    assert sum(bad) > 10


def test_conversations_shrink() -> None:
    """The smallest conversation with a call holds little else."""
    found = find(conversations(), lambda messages: "tool_use" in json.dumps(messages), settings=STILL)
    assert len(found) == 3
    assert len(json.dumps(found)) < 400


def test_importing_the_package_imports_neither_pytest_nor_hypothesis() -> None:
    """They are needed by the contracts and strategies only, and the error says what to install."""
    code = """
import sys, trimtab.testing as t
assert not {"pytest", "hypothesis"} & sys.modules.keys()
t.Recorder, t.Scripted, t.crash_at
sys.modules["hypothesis"] = None
try:
    t.StageContract
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "trimtab.testing.StageContract needs hypothesis: pip install trimtab[testing]\n"
