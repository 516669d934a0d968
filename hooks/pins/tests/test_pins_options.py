"""What a profile may say under ``pins``, and what it is told when that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trimtab import load
from trimtab.cli.schema import options_schema
from trimtab.errors import ProfileError
from trimtab_pins import Pins, PinsOptions


def rules(tmp_path: Path, text: str) -> Any:
    """The rules of a profile that says ``- pins: text``."""
    file = tmp_path / "team.yaml"
    file.write_text(f"extends: minimal\nhooks:\n  - pins: {text}\n")
    [item] = load(file, plugins=[Pins], env={}, cwd=tmp_path).hooks
    return item.options.root


def test_three_lines_are_enough(tmp_path: Path) -> None:
    """A list of rules, each with the rule as its reason."""
    found = rules(
        tmp_path,
        '[{first: user}, {role: user, match: "(?i)never push"}, {tool: TodoWrite, last: 1},\n'
        '      {contains: "#keep", budget: 2k}, {tag: "#keep", reason: "as we agreed"}]',
    )
    assert [rule.why for rule in found] == [
        "first: user",
        "role: user, match: (?i)never push",
        "tool: TodoWrite, last: 1",
        "contains: #keep, budget: 2000",
        "as we agreed",
    ]
    assert [rule.moving for rule in found] == [False, False, True, True, False]


def test_one_rule_needs_no_list(tmp_path: Path) -> None:
    """A mapping is one rule."""
    assert [rule.contains for rule in rules(tmp_path, '{contains: "#keep"}')] == ["#keep"]


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("{contain: x}", "pins", "no key named 'contain' in a rule of pins; did you mean 'contains'? (keys: budget, "),
        ("[{last: 1}, {contain: x}]", "pins[1]", "no key named 'contain' in a rule of pins; did you mean 'contains'?"),
        ("{match: a, contains: b}", "pins", "match and contains in one rule; write a rule for each"),
        (
            "{role: user, tool: Read}",
            "pins",
            "role and tool in one rule; a tool's results are of no role, write",
        ),
        ("{file: a.py, role: user}", "pins", "file does not go with role (what does: contains, last, match, tag)"),
        ("{tag: a, tool: Read}", "pins", "tag does not go with tool (what does: contains, last, match)"),
        ("{budget: 2k}", "pins", "the rule does not say what to pin (one of: contains, file, first, last, match, role"),
        ("{match: '(('}", "pins.match", "'((' is no regular expression: missing ), unterminated subpattern"),
        ("[{last: 1}, {match: '[b-a]'}]", "pins[1].match", "'[b-a]' is no regular expression: bad character range"),
        ("{match: 'a{99999999999999999999}'}", "pins.match", "is no regular expression: the repetition number"),
        ("{last: 0}", "pins.last", "0 should be greater than or equal to 1"),
        ("{last: true}", "pins.last", "True should be a valid integer"),
        ("{first: usr}", "pins.first", "'usr' is none of the words for this; did you mean 'user'?"),
        ("{budget: 2q, last: 1}", "pins.budget", "'2q' is not a size"),
        ("{contains: ' '}", "pins.contains", "is blank; it would pin everything"),
        (
            "{contains:    #keep\n    }",
            "pins",
            "contains is empty; a text that begins with # needs quotes: ",
        ),
        ("['#keep']", "pins[0]", "a mapping is needed (key: value), not '#keep'"),
        ("'#keep'", "pins", "a list of rules is needed (- contains: \"#keep\"), or one rule, not '#keep'"),
        ("[]", "pins", "a list of rules is needed"),
        ("", "pins", "the rule does not say what to pin"),
    ],
)
def test_errors_say_where_what_and_what_else(tmp_path: Path, text: str, where: str, what: str) -> None:
    """Each once, in the words of a profile."""
    with pytest.raises(ProfileError) as caught:
        rules(tmp_path, text)
    assert f"hooks[0].{where}: " in str(caught.value)
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)


def test_editors_are_told_of_both_forms() -> None:
    """The schema takes a list of rules, and the keys of one."""
    schema = options_schema(PinsOptions, "pins.")
    assert schema["type"] == ["array", "object"]
    assert schema["items"] == {"$ref": "#/$defs/pins.Rule"}
    assert schema["properties"] == schema["$defs"]["Rule"]["properties"]
