"""What happens in the demonstration: a person asks for a small feature, asks about mistakes, and asks for a review."""

from __future__ import annotations

from scripts.record_demo.agent import Agent
from scripts.record_demo.change import change
from scripts.record_demo.explore import explore
from scripts.record_demo.mistakes import mistakes
from scripts.record_demo.review import review

__all__ = ["tell"]

COFFEE = 12 * 60.0
MEETING = 74 * 60.0
"""Seconds between the person's messages; the prompt cache lives for five minutes."""


def tell(agent: Agent) -> None:
    """The whole session."""
    agent.asked(
        "The output of a test run ends with its summary, and that is the part that I look at. Please add a preview "
        "`tail` to tool-result-budget that shows only the end of a result, with an option for its size. The kernel "
        "must not change. Read how the previews work first, and tell me your plan before you write anything."
    )
    places = explore(agent)
    agent.asked("Good plan, go on. Keep the whole-line rule.", 100)
    change(agent)
    agent.asked(
        "Thanks. Now the other side: what does a person see who writes `preview: tails`, or gives the size a silly "
        "value? I want the place and the way out in every error. Show me the texts.",
        COFFEE,
    )
    mistakes(agent)
    agent.asked(
        "Back from a meeting. Before I merge: does the new preview keep promise 4 (a sent face never changes by "
        "itself), and can a stored text still be read back in parts? Check it in the kernel, not only in the plugin. "
        "Then run everything once more, write the changelog line and sum up.",
        MEETING,
    )
    review(agent, places)
