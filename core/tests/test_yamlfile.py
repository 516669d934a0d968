"""YAML with origins, and the traps of YAML 1.1."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.errors import ProfileError
from trimtab.yamlfile import parse, shown


def read(text: str) -> Any:
    """Read an indented text as ``team.yaml``."""
    return parse(textwrap.dedent(text), "team.yaml")


def test_origins() -> None:
    """Every key and every list item has the line on which it begins."""
    layer = read(
        """\
        provider:
          model: m
        stages:
          - snip: {mode: redundant,
                   when: [cold,
                          over: warn]}
          - other
        """
    )
    assert layer.data["stages"][0]["snip"]["when"] == ["cold", {"over": "warn"}]
    for path, line in [
        ((), 1),
        (("provider",), 1),
        (("provider", "model"), 2),
        (("stages", 0), 4),
        (("stages", 0, "snip", "when"), 5),
        (("stages", 0, "snip", "when", 1, "over"), 6),
        (("stages", 1), 7),
    ]:
        assert layer.origin(path) == f"team.yaml:{line}"
    assert layer.origin(("stages", 2)) is None
    assert layer.origin(("provider", "model", "name")) is None
    assert shown(("stages", 0, "snip", "when", 1, "over")) == "stages[0].snip.when[1].over"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("24_000", 24_000),
        ("-3", -3),
        ("0x10", 16),
        ("0.5", 0.5),
        ("1_000.5", 1000.5),
        ("20k", "20k"),
        ("true", True),
        ("False", False),
        ("off", "off"),
        ("OFF", "off"),
        ("null", None),
        ("~", None),
        ("", None),
        ("2026-11-28", "2026-11-28"),
        ("'60:00'", "60:00"),
        ('"on"', "on"),
        ("'010'", "010"),
        ("!!str 10", "10"),
        ("[a, {b: 1}]", ["a", {"b": 1}]),
    ],
)
def test_values(text: str, value: object) -> None:
    """Scalars are what they look like; ``off`` stays a word; quotes make a text of anything."""
    assert read(f"key: {text}").data == {"key": value}


BASE60 = "is a base-60 number in YAML; write a duration as 60m, or quote it"
YES = "is true to some YAML readers; write true, or quote it"
NO = "is false to some YAML readers; write false (a limit: off), or quote it"
POWER = "is a text to some YAML readers; write 1000 or 1k, or quote it"
OCTAL = "is octal to some YAML readers; drop the leading zero, or quote it"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("60:00", BASE60),
        ("1:30:00.5", BASE60),
        *((word, YES) for word in ("on", "On", "yes", "y")),
        *((word, NO) for word in ("no", "NO", "n")),
        ("1e3", POWER),
        ("1.5e3", POWER),
        ("1.0e+3", POWER),
        ("010", OCTAL),
        ("0o17", OCTAL),
        ("-.inf", "is not a finite number"),
        (".NaN", "is not a finite number"),
    ],
)
def test_traps(text: str, hint: str) -> None:
    """What YAML readers disagree on is an error with line, key and a way out."""
    with pytest.raises(ProfileError) as caught:
        read(f"a: 1\nb:\n  - x\n  - {text}\n")
    assert str(caught.value) == f"team.yaml:4: b[1]: {text} {hint}"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a: 1\nb: {c: 1, c: 2}", "team.yaml:2: b.c: stands twice, first at team.yaml:2"),
        ("a: 1\na: 2", "team.yaml:2: a: stands twice, first at team.yaml:1"),
        ("a:\n\tb: 1", "team.yaml:2: not YAML: a tab; indent with spaces"),
        ("a: 1\n---\nb: 2", "team.yaml:3: a second document; a file holds one"),
        ("a:\n  5: x", "team.yaml:2: a: a key must be a text, not 5; quote it"),
        ("null: x", "team.yaml:1: a key must be a text, not None; quote it"),
        ("? [a]\n: x", "team.yaml:1: a key must be a text, not ['a']; quote it"),
        ("on: x", f"team.yaml:1: on {YES}"),
        ("a: &x {b: 1}\nc:\n  <<: *x", "team.yaml:3: c: << is not read (tag:yaml.org,2002:merge)"),
        ("a: {b: 8,000}", "team.yaml:1: a.b: 8,000 ends at its comma; write 8_000 or 8k"),
        ("a:\n  {b: 1, c: 24,500 }", "team.yaml:2: a.c: 24,500 ends at its comma; write 24_500"),
        ("{a: 1,000,000, b: 2}", "team.yaml:1: a: 1,000,000 ends at its comma; write 1_000_000 or 1_000k"),
        ("a: !secret x", "team.yaml:1: a: x is not read (!secret)"),
        (
            "a: !!python/name:os.system",
            "team.yaml:1: a:  is not read (tag:yaml.org,2002:python/name:os.system)",
        ),
        ("a: &x [*x]", "team.yaml:1: a[0]: nested too deep"),
        ("a: [1", "team.yaml:1: not YAML: expected ',' or ']', but got '<stream end>'"),
        ("a: b: c", "team.yaml:1: not YAML: mapping values are not allowed here"),
        ("a: \x07", "team.yaml: not YAML: unacceptable character #x0007: special characters are not allowed"),
    ],
)
def test_faults(text: str, error: str) -> None:
    """Every other fault is an error at its line."""
    with pytest.raises(ProfileError) as caught:
        parse(text, "team.yaml")
    assert str(caught.value) == error


def test_variable() -> None:
    """A variable's value is YAML too, and its errors name the variable alone."""
    assert parse("[a, b: 20k]", "TRIMTAB_STAGES", lines=False).data == ["a", {"b": "20k"}]
    assert parse("", "TRIMTAB_STAGES", lines=False).data is None
    with pytest.raises(ProfileError) as caught:
        parse("1e3", "TRIMTAB_THRESHOLDS__AUTO", lines=False)
    assert str(caught.value) == f"TRIMTAB_THRESHOLDS__AUTO: 1e3 {POWER}"


@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    """Whatever a file holds, it is read or refused with an error that begins with its name."""
    what = ""
    try:
        parse(text, "team.yaml")
    except ProfileError as error:
        what = str(error)
    assert not what or what.startswith("team.yaml:")
