"""The keys in a profile: defaults, words, and errors that say what to write."""

from __future__ import annotations

import math
from typing import Any

import pytest
from trimtab import ProfileError, load
from trimtab_tool_result_budget import BudgetOptions


def options(said: Any) -> BudgetOptions:
    """What a profile with this stage makes of its keys."""
    profile = load("minimal", overrides={"stages": [{"tool-result-budget": said}]}, env={}, cwd="/")
    made = profile.stages[0].options
    assert isinstance(made, BudgetOptions)
    return made


def test_defaults_are_the_measured_ones() -> None:
    """Limits by class, in characters; classes without one of their own are `other`."""
    plain = BudgetOptions()
    classes = ("read", "ranged_read", "search", "shell", "edit", "web", "other")
    assert [plain.limit("Tool", name) for name in classes] == [24e3, 30e3, 12e3, 4e3, 6e3, 6e3, 6e3]
    assert (plain.most, plain.preview, plain.head, plain.names) == (200e3, "names", 2e3, 8e3)


def test_a_tool_goes_before_its_class() -> None:
    """A limit by tool name wins, be it larger, smaller or off."""
    made = options({"limits": {"shell": "off", "other": "2k"}, "tools": {"Bash": "8k", "Read": "off"}})
    assert made.limit("Bash", "shell") == 8_000
    assert made.limit("Other", "shell") == math.inf
    assert made.limit("Read", "read") == math.inf
    assert made.limit("WebFetch", "web") == 2_000


def test_message_can_be_off() -> None:
    """Without a limit for messages only single results are judged."""
    assert options({"message": "off"}).most == math.inf


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"limits": {"shel": 4_000}}, "limits.shel: no such key; did you mean 'shell'?"),
        (
            {"limits": {"shell": "4q"}},
            "limits.shell: '4q' is not a limit; write characters, as 24_000 or 24k, or off",
        ),
        (
            {"tools": {"Read": False}},
            "tools.Read: False is not a limit; write characters, as 24_000 or 24k, or off",
        ),
        ({"message": 0}, "message: 0 is not a limit; write characters, as 24_000 or 24k, or off"),
        ({"head": 0}, "head: 0 is not a size in characters; write at least 1"),
        ({"preview": "heads"}, "did you mean 'head'?"),
    ],
)
def test_errors_say_what_to_write(said: Any, told: str) -> None:
    """An unknown key, a wrong size and a wrong word each name their place and the way out."""
    with pytest.raises(ProfileError) as error:
        options(said)
    assert told in str(error.value)
