"""Sizes, durations and amounts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError
from trimtab.values import Amount, Duration, Size, amount, duration, size, window


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (0, 0),
        (24_000, 24_000),
        ("24_000", 24_000),
        ("20k", 20_000),
        ("20K", 20_000),
        ("1.5m", 1_500_000),
        ("1.1k", 1_100),
    ],
)
def test_size(text: object, tokens: int) -> None:
    """K is a thousand and m a million; underscores group."""
    assert size(text) == tokens


@pytest.mark.parametrize(
    "value", [-1, "-1", 1.5, "0.5", "1.0001k", "20x", "k", "", "5s", True, None, [1], "1e3", "1 000"]
)
def test_not_a_size(value: object) -> None:
    """What is no whole number of things is refused with examples."""
    with pytest.raises(ValueError) as caught:
        size(value)
    assert str(caught.value) == f"{value!r} is not a size; write a whole number such as 24_000, 20k or 1.5m"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [(5, 5), (0.5, 0.5), ("5s", 5), ("60m", 3_600), ("1.5h", 5_400), ("1d", 86_400), ("90", 90)],
)
def test_duration(text: object, seconds: float) -> None:
    """A duration is in seconds; m is a minute here."""
    assert duration(text) == seconds


@pytest.mark.parametrize("value", ["60:00", "5k", "-5s", False, None, "soon"])
def test_not_a_duration(value: object) -> None:
    """What is no span of time is refused with examples."""
    with pytest.raises(ValueError) as caught:
        duration(value)
    assert str(caught.value) == f"{value!r} is not a duration; write 5s, 60m, 2h or 1d"


def test_window() -> None:
    """A window is a size that a conversation fits into."""
    assert (window(1_000), window("200k")) == (1_000, 200_000)
    for value in (0, "0", 999):
        with pytest.raises(ValueError) as caught:
            window(value)
        assert str(caught.value) == f"{value!r} is not a window; write at least 1,000 tokens, as 200k"


def test_amount() -> None:
    """Up to 1 it is a share (float), above it tokens (int)."""
    assert [amount(value) for value in (0.5, 1, 1.0, 2, "20k")] == [0.5, 1.0, 1.0, 2, 20_000]
    assert [type(amount(value)) for value in (0.5, 1, 2, "20k")] == [float, float, int, int]
    with pytest.raises(ValueError) as caught:
        amount("wran", ("auto", "block", "warn"))
    assert str(caught.value) == (
        "'wran' is neither tokens, as 20k, nor a share, as 0.9; did you mean 'warn'? (or a level: auto, block, warn)"
    )


@given(st.integers(0, 10**12), st.sampled_from(["", "k", "m"]))
def test_size_round_trip(number: int, unit: str) -> None:
    """A size written out, grouped or not, reads back as itself."""
    factor = {"": 1, "k": 1_000, "m": 1_000_000}[unit]
    assert size(f"{number:_}{unit}") == size(f"{number}{unit}") == number * factor == size(size(f"{number}{unit}"))


@given(st.decimals(0, 10**6, places=3), st.sampled_from("smhd"))
def test_duration_round_trip(number: object, unit: str) -> None:
    """A duration given in seconds reads back as itself."""
    seconds = duration(f"{number}{unit}")
    assert duration(seconds) == pytest.approx(seconds, abs=0.0005)
    assert seconds == pytest.approx(float(str(number)) * {"s": 1, "m": 60, "h": 3_600, "d": 86_400}[unit])


def test_types() -> None:
    """The types check option models, and have a JSON Schema that allows number and text."""

    class Options(BaseModel):
        limit: Size = 0
        idle: Duration = 0.0
        target: Amount | None = None

    options = Options.model_validate({"limit": "4k", "idle": "5m", "target": 0.5})
    assert (options.limit, options.idle, options.target) == (4_000, 300.0, 0.5)
    assert TypeAdapter(Size).json_schema()["type"] == ["number", "string"]
    with pytest.raises(ValidationError, match="'4x' is not a size"):
        Options.model_validate({"limit": "4x"})
