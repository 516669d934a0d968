"""Third part, after a pause: what a person sees who gets the new option wrong."""

from __future__ import annotations

from scripts.record_demo.agent import Agent, bash, edit, grep, read, write
from scripts.record_demo.explore import PLUGIN

__all__ = ["mistakes"]

PROFILE = """\
extends: default
stages:
  - tool-result-budget:
      preview: {preview}
      tail: {tail}
"""

OPTIONS_TESTS = f"{PLUGIN}/tests/test_budget_options.py"


def mistakes(agent: Agent) -> None:
    """Errors shown, followed to their source, and asserted."""
    agent.say(
        "I'll write such a profile and ask for it, one mistake at a time.",
        write("wrong.yaml", PROFILE.format(preview="tails", tail="4_000")),
        bash("trimtab profile check --profile wrong.yaml", "Check the profile"),
        fails=True,
    )
    agent.say(
        "File, line, key, the nearest word and all the words: nothing to add for `preview: tails`. The size:",
        write("wrong.yaml", PROFILE.format(preview="tail", tail="0")),
        bash("trimtab profile check --profile wrong.yaml", "Check the profile"),
        fails=True,
    )
    agent.say(
        "Also good. A size that is no number, and a misspelt key:",
        bash(
            "for tail in 4q -5 1e3 yes; do "
            'sed "s/tail: 0/tail: $tail/" wrong.yaml > other.yaml; '
            "trimtab profile check --profile other.yaml; done",
            "Check four silly values",
        ),
        bash(
            'sed "s/tail: 0/tial: 4000/" wrong.yaml > other.yaml; trimtab profile check --profile other.yaml',
            "Check a misspelt key",
        ),
        fails=True,
    )
    agent.say(
        "Each names `other.yaml`, a line and the key. Where do these texts come from? I want to be sure that they do "
        "not depend on the order in which pydantic tries things.",
        grep(r"did you mean|no such key|none of the words", "core/src/trimtab"),
        read("core/src/trimtab/yamlfile.py", 1, 60),
    )
    agent.say(
        "`TrimtabError` adds the nearest word; the lines come from yamlfile.py. The rest is in profile.py.",
        read("core/src/trimtab/profile.py", 100, 90),
        read("core/src/trimtab/errors.py"),
    )
    held(agent)


def held(agent: Agent) -> None:
    """The texts become tests."""
    agent.say(
        "How do the existing tests hold these texts, here and in core?",
        read(OPTIONS_TESTS),
        read("core/tests/test_profile_errors.py", 1, 70),
    )
    line = agent.lines(OPTIONS_TESTS, r'"preview": "heads"')
    agent.say(
        "test_budget_options.py has `heads`; `tails` and the new size belong beside it.",
        edit(
            OPTIONS_TESTS,
            line,
            f'{line}\n        ({{"preview": "tails"}}, "did you mean \'tail\'?"),\n'
            '        ({"tail": 0}, "tail: 0 is not a size in characters; write at least 1"),\n'
            '        ({"tial": 9}, "tial: no such key; did you mean \'tail\'?"),',
        ),
        bash(f"python -m pytest -q {OPTIONS_TESTS}", "Run the tests of the options"),
    )
    agent.say(
        "And the schema, which editors use to complete profiles: it must list the word and the size.",
        bash(
            "trimtab profile schema > schema.json; grep -n -B2 -A12 '\"tail\"' schema.json", "Find `tail` in the schema"
        ),
    )
    agent.say(
        "The word is in the enumeration, and the size has its description from the docstring in options.py. Does the "
        "list of plugins show it too?",
        bash("trimtab plugins --json | grep -n -B2 -A6 '\"tail\"'", "Find `tail` among the plugins' options"),
    )
    agent.say(
        "It does. Nobody should find my wrong profiles in the tree.",
        bash("rm wrong.yaml other.yaml schema.json && git status --short", "Remove what I made to try things"),
    )
    agent.say(
        "What a person sees:\n"
        "- `preview: tails`: file and line, `did you mean 'tail'?`, and the list of words.\n"
        "- `tail: 0`: `0 is not a size in characters; write at least 1`.\n"
        "- `tail: 4q`, `-5`, `1e3`, `yes`: file, line, what a size looks like.\n"
        "- `tial: 4000`: `no such key; did you mean 'tail'?`, and all keys.\n"
        "The texts came for free from `_positive`, `StageOptions` and `TrimtabError`; three cases in "
        "test_budget_options.py hold them now."
    )
