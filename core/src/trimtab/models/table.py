"""Our own table of models: windows, prices, cache facts; dated, and small enough to be checked by hand.

As of 2026-11-29: the models of that day and those that occur in recorded sessions, no others, for a wrong
price is worse than none. Prices of retired models are their last. Sources: the vendors' price pages, compared
with two public price tables.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AS_OF", "MODELS", "Cliffs", "Model", "Prices"]

AS_OF = "2026-11-29"

Cliffs = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars per million tokens.

    A token that is written to the cache costs ``cache_write`` (``cache_write_1h`` for the long time to live)
    instead of ``input``; where writing is free they are equal.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_1h: float


@dataclass(frozen=True, slots=True)
class Model:
    """One model; sizes in tokens, ``ttl`` (how long a cached prefix lives by default) in seconds.

    ``max_output`` equals ``window`` where the vendor states none. ``minimum``: the smallest prefix that is
    cached at all; ``step``: what is read from the cache is a multiple of it, rounded down. ``prefix_bound``: its
    thinking is valid only behind an unchanged prefix. ``factor``: its tokens for one of o200k_base, before
    calibration. ``cliffs``: pairs of prompt tokens and the factor on the price of all input of a request with
    more. ``source``: where all this comes from, in words.
    """

    name: str
    window: int
    max_output: int
    price: Prices
    minimum: int
    ttl: float
    factor: float
    prefix_bound: bool = False
    cliffs: Cliffs = ()
    step: int = 1
    source: str = f"our table of {AS_OF}"


MILLION, K128 = 1_000_000, 128_000


def _claude(name: str, input: float, read: float, minimum: int, *, bound: bool = False, cliffs: Cliffs = ()) -> Model:
    """Claude from 4.7 on: output 5 times the input price, writing 1.25 times, for an hour twice."""
    price = Prices(input, 5 * input, read, 1.25 * input, 2 * input)
    return Model(f"claude-{name}", MILLION, K128, price, minimum, 300.0, 1.4, bound, cliffs)


def _older_claude(name: str, input: float, minimum: int, window: int = 200_000, output: int = 64_000) -> Model:
    """Claude before 4.7: fewer tokens for the same text, reading at a tenth."""
    price = Prices(input, 5 * input, input / 10, 1.25 * input, 2 * input)
    return Model(f"claude-{name}", window, output, price, minimum, 300.0, 1.2)


def _gpt(name: str, input: float, output: float, read: float) -> Model:
    """GPT from 5.6 on: ``read`` is a factor on ``input``; writing costs 1.25 times, above 272k all input double."""
    price = Prices(input, output, read * input, 1.25 * input, 1.25 * input)
    return Model(name, 1_050_000, K128, price, 1_024, 1_800.0, 1.0, cliffs=((272_000, 2.0),))


def _older_gpt(name: str, input: float, output: float, ttl: float, step: int) -> Model:
    """GPT 5.4 and 5.5: as above, but writing is free and hits come in steps."""
    price = Prices(input, output, input / 10, input, input)
    return Model(name, 1_050_000, K128, price, 1_024, ttl, 1.0, cliffs=((272_000, 2.0),), step=step)


def _other(
    name: str,
    window: int,
    max_output: int,
    prices: tuple[float, float, float],
    *,
    minimum: int,
    ttl: float,
    step: int = 1,
    factor: float = 1.2,
    cliffs: Cliffs = (),
) -> Model:
    """Others: prices of input, output and reading; writing costs nothing extra.

    Times to live are the vendors' shortest, 300 seconds where they state none. Factors other than DeepSeek's
    and GPT's are not measured: the one of Claude before 4.7.
    """
    input, output, read = prices
    return Model(
        name,
        window,
        max_output,
        Prices(input, output, read, input, input),
        minimum,
        ttl,
        factor,
        cliffs=cliffs,
        step=step,
    )


_ROWS = (
    _claude("fable-5-2", 8, 0.2, 512, bound=True),
    _claude("mythos-5-2", 8, 0.2, 512, bound=True),
    _claude("fable-5-1", 10, 0.25, 512, bound=True),
    _claude("mythos-5-1", 10, 0.25, 512, bound=True),
    _claude("fable-5", 10, 1, 512),
    _claude("mythos-5", 10, 1, 512),
    _claude("opus-5-5", 4, 0.2, 512, bound=True),
    _claude("opus-5", 5, 0.5, 512),
    _claude("opus-4-8", 5, 0.5, 1_024),
    _claude("opus-4-7", 5, 0.5, 2_048),
    _claude("sonnet-5-5", 2, 0.1, 512, bound=True),
    _claude("sonnet-5", 2, 0.2, 1_024),
    _claude("haiku-5-5", 0.1, 0.01, 512, bound=True, cliffs=((100_000, 5.0),)),
    _older_claude("opus-4-6", 5, 4_096, MILLION, K128),
    _older_claude("opus-4-5", 5, 4_096),
    _older_claude("sonnet-4-6", 3, 1_024, MILLION, K128),
    _older_claude("sonnet-4-5", 3, 1_024),
    _older_claude("sonnet-4", 3, 1_024),
    _older_claude("haiku-4-5", 1, 4_096),
    _gpt("gpt-6-astra", 10, 50, 0.1),
    _gpt("gpt-6-sol", 2, 10, 0.1),
    _gpt("gpt-6.1-sol", 2, 10, 0.05),
    _gpt("gpt-6.1-terra", 1, 5, 0.05),
    _gpt("gpt-6-luna", 0.1, 0.5, 0.1),
    _gpt("gpt-5.6-sol", 4, 20, 0.1),
    _gpt("gpt-5.6-terra", 2, 12, 0.1),
    _gpt("gpt-5.6-luna", 0.2, 1.2, 0.1),
    # The vendor says 128; all 48 hits of a recorded session lie 512 apart.
    _older_gpt("gpt-5.5", 5, 30, 86_400.0, step=512),
    _older_gpt("gpt-5.4", 2.5, 15, 300.0, step=128),
    _other("gpt-5.1-codex", 400_000, K128, (1.25, 10, 0.125), minimum=1_024, ttl=300, step=128, factor=1.0),
    # Doubles on 2026-12-01.
    _other("gemini-4-argon", 1_050_000, 1_050_000, (2, 10, 0.1), minimum=4_096, ttl=300),
    _other("gemini-3.8-flash", 1_050_000, 65_000, (0.75, 3.75, 0.075), minimum=4_096, ttl=300),
    _other("gemini-3.1-pro", 1_050_000, 65_000, (2, 12, 0.2), minimum=4_096, ttl=300, cliffs=((200_000, 2.0),)),
    _other("gemini-3-pro", 1_050_000, 65_000, (2, 12, 0.2), minimum=4_096, ttl=300, cliffs=((200_000, 2.0),)),
    # Day prices; by night about half.
    _other("deepseek-v4-pro", MILLION, 393_000, (1.32, 3.96, 0.044), minimum=64, ttl=7_200, step=64, factor=1.17),
    _other("deepseek-v4-flash", MILLION, 393_000, (0.3, 1.2, 0.006), minimum=64, ttl=7_200, step=64, factor=1.17),
    # V3.2, as the recorded costs confirm; both names ended in July 2026.
    _other("deepseek-chat", K128, 8_000, (0.28, 0.42, 0.028), minimum=64, ttl=7_200, step=64, factor=1.17),
    _other("deepseek-reasoner", K128, 64_000, (0.28, 0.42, 0.028), minimum=64, ttl=7_200, step=64, factor=1.17),
    _other("devstral-small", K128, K128, (0.1, 0.3, 0.01), minimum=64, ttl=300, step=64),
    Model("kimi-k3", 1_050_000, 1_050_000, Prices(3, 15, 0.3, 3, 6), 256, 300.0, 1.2, step=256),
    Model("kimi-k3.1-pro", 1_050_000, 1_050_000, Prices(2, 10, 0.2, 2, 4), 256, 300.0, 1.2, step=256),
)
MODELS = {model.name: model for model in _ROWS}
