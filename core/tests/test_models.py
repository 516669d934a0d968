"""The table of known models: prices, cache facts and the ids that lead to them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from trimtab import load
from trimtab.models import MODELS, Model, find, library, nearest
from trimtab.provider import Price, Provider, resolve

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"

# Model, window, max output, input, output, cache read, cache write, for an hour; the vendors, 2026-11-29.
TABLE = """
claude-fable-5-2    1000000 128000   8    40   0.20   10     16
claude-mythos-5-1   1000000 128000  10    50   0.25   12.5   20
claude-fable-5      1000000 128000  10    50   1.00   12.5   20
claude-opus-5-5     1000000 128000   4    20   0.20    5      8
claude-opus-5       1000000 128000   5    25   0.50    6.25  10
claude-opus-4-8     1000000 128000   5    25   0.50    6.25  10
claude-opus-4-7     1000000 128000   5    25   0.50    6.25  10
claude-opus-4-6     1000000 128000   5    25   0.50    6.25  10
claude-opus-4-5      200000  64000   5    25   0.50    6.25  10
claude-sonnet-5-5   1000000 128000   2    10   0.10    2.5    4
claude-sonnet-5     1000000 128000   2    10   0.20    2.5    4
claude-sonnet-4-6   1000000 128000   3    15   0.30    3.75   6
claude-sonnet-4-5    200000  64000   3    15   0.30    3.75   6
claude-sonnet-4      200000  64000   3    15   0.30    3.75   6
claude-haiku-5-5    1000000 128000   0.1   0.5 0.01    0.125  0.2
claude-haiku-4-5     200000  64000   1     5   0.10    1.25   2
gpt-6-astra         1050000 128000  10    50   1.00   12.5   12.5
gpt-6-sol           1050000 128000   2    10   0.20    2.5    2.5
gpt-6.1-sol         1050000 128000   2    10   0.10    2.5    2.5
gpt-6.1-terra       1050000 128000   1     5   0.05    1.25   1.25
gpt-6-luna          1050000 128000   0.1   0.5 0.01    0.125  0.125
gpt-5.6-terra       1050000 128000   2    12   0.20    2.5    2.5
gpt-5.5             1050000 128000   5    30   0.50    5      5
gpt-5.4             1050000 128000   2.5  15   0.25    2.5    2.5
gemini-3.1-pro      1050000  65000   2    12   0.20    2      2
deepseek-v4-pro     1000000 393000   1.32  3.96 0.044  1.32   1.32
deepseek-v4-flash   1000000 393000   0.3   1.2 0.006   0.3    0.3
kimi-k3             1050000 1050000  3    15   0.30    3      6
kimi-k3.1-pro       1050000 1050000  2    10   0.20    2      4
"""


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """What the library said is asked anew by every test."""
    library.find.cache_clear()
    yield
    library.find.cache_clear()


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is not installed."""
    monkeypatch.setitem(sys.modules, "genai_prices", None)


def provider(**said: Any) -> Provider:
    """What a profile with these lines works with."""
    return resolve(load("minimal", overrides={"provider": said}, env={}, cwd="/").provider)


@pytest.mark.parametrize("line", TABLE.strip().splitlines(), ids=lambda line: line.split()[0])
def test_prices_and_windows(line: str) -> None:
    """Windows and all five prices are those of the vendors' pages."""
    name, *numbers = line.split()
    model = MODELS[name]
    price = model.price
    prices = [price.input, price.output, price.cache_read, price.cache_write, price.cache_write_1h]
    assert [model.window, model.max_output, *prices] == pytest.approx([float(number) for number in numbers])


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
def test_every_row_makes_sense(model: Model) -> None:
    """Reading is cheaper than sending, writing is not, and sizes, times and factors lie where they can."""
    assert find(model.name) is model
    price = model.price
    assert 0 < price.cache_read < price.input <= price.cache_write <= price.cache_write_1h
    assert price.input < price.output
    assert 0 < model.minimum < model.max_output <= model.window
    assert model.step in (1, 64, 128, 256, 512)
    assert model.ttl >= 300
    assert 1 <= model.factor < 1.6


def test_claude_multiplies_alike() -> None:
    """Every Claude writes at 1.25 and 2 times the input price and answers at 5 times."""
    for model in MODELS.values():
        if model.name.startswith("claude"):
            price = model.price
            assert [price.cache_write, price.cache_write_1h, price.output] == pytest.approx(
                [1.25 * price.input, 2 * price.input, 5 * price.input]
            )


def test_prefix_bound_models() -> None:
    """Exactly the models whose thinking is bound to what was sent before it."""
    assert sorted(model.name for model in MODELS.values() if model.prefix_bound) == [
        "claude-fable-5-1",
        "claude-fable-5-2",
        "claude-haiku-5-5",
        "claude-mythos-5-1",
        "claude-mythos-5-2",
        "claude-opus-5-5",
        "claude-sonnet-5-5",
    ]


def test_tokenizer_factors() -> None:
    """Claude counts 1.2 tokens for one of o200k before 4.7 and 1.4 from then on, GPT as many."""
    names = ["claude-opus-4-6", "claude-haiku-4-5", "claude-opus-4-7", "claude-haiku-5-5", "gpt-6-sol"]
    assert [MODELS[name].factor for name in names] == [1.2, 1.2, 1.4, 1.4, 1.0]


def test_smallest_cacheable_prefixes() -> None:
    """The sizes below which Claude silently caches nothing."""
    names = ["claude-opus-5-5", "claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-5", "claude-haiku-4-5"]
    assert [MODELS[name].minimum for name in names] == [512, 1024, 2048, 4096, 4096]


def test_steps_of_hits() -> None:
    """Blocks of automatic caches; where the cache has marked or exact boundaries, 1."""
    names = ["claude-opus-5-5", "gpt-6-sol", "gpt-5.5", "gpt-5.4", "deepseek-chat", "kimi-k3", "gemini-3-pro"]
    assert [MODELS[name].step for name in names] == [1, 1, 512, 128, 64, 256, 1]


def test_cliffs_raise_the_price_of_the_whole_request() -> None:
    """300k tokens on gpt-6-sol cost 4 dollars a million; Haiku 5.5 is five times dearer above 100k."""
    sol, haiku = MODELS["gpt-6-sol"], MODELS["claude-haiku-5-5"]
    price = Price(sol.price.input, sol.price.cache_read, sol.price.cache_write, sol.cliffs)
    assert price.cost(read=0, write=0, fresh=300_000) == pytest.approx(0.3 * 4)
    assert haiku.cliffs == ((100_000, 5.0),)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4"),
        ("claude-sonnet-4-0", "claude-sonnet-4"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("bedrock/us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("global.anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        (
            "arn:aws:bedrock:x:1:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0",
            "claude-haiku-4-5",
        ),
        ("vertex_ai/claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("openrouter/anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("claude-opus-4-6[1m]", "claude-opus-4-6"),
        (" Claude-Opus-5-5 ", "claude-opus-5-5"),
        ("openai/gpt-5.4-2026-03-05", "gpt-5.4"),
        ("gemini-3-pro-preview", "gemini-3-pro"),
    ],
)
def test_ids_resolve(given: str, name: str) -> None:
    """Dated ids, platform ids and provider paths lead to the model that they name."""
    model = find(given)
    assert model is not None
    assert model.name == name


@pytest.mark.parametrize(
    "given",
    ["", "<synthetic>", "claude-opus-5-7", "claude-opus-4-20250514", "gpt-5.5-pro", "claude", "sonnet"],
)
def test_other_models_are_unknown(given: str, alone: None) -> None:
    """A neighbour's name is no reason to charge its price."""
    assert find(given) is None


def test_the_library_is_asked_last() -> None:
    """A model of ours loads nothing; another one loads the library, which starts nothing that fetches."""
    pytest.importorskip("genai_prices")
    code = (
        "import json, sys, threading; from trimtab.models import find; found = [];\n"
        "for name in ('claude-opus-4-5', 'gpt-4o'):\n"
        "    found.append([find(name).source, 'genai_prices' in sys.modules, threading.active_count()])\n"
        "print(json.dumps(found))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    (ours, before, _), (theirs, after, threads) = json.loads(done.stdout)
    assert (ours, before) == ("our table of 2026-11-29", False)
    assert re.fullmatch(r"genai-prices \d+\.\d+\.\d+ \(openai: gpt-4o\)", theirs)
    assert (after, threads) == (True, 1)


def test_a_model_of_the_library() -> None:
    """Window and prices are the library's, the cache facts are defaults, and a path names the provider."""
    pytest.importorskip("genai_prices")
    model = find("openai/gpt-4o-2024-08-06")
    assert model is not None
    assert (model.window, model.minimum, model.ttl, model.factor, model.step) == (128_000, 1_024, 300.0, 1.2, 1)
    price = model.price
    assert (price.input, price.output, price.cache_read, price.cache_write) == (2.5, 10.0, 1.25, 2.5)
    assert provider(model="gpt-4o").window == 128_000


def test_an_applications_own_prices_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that an application fetches and gives the library do not change what we say."""
    snapshots = pytest.importorskip("genai_prices.data_snapshot")
    monkeypatch.setattr(snapshots, "_custom_snapshot", snapshots.DataSnapshot([], from_auto_update=True))
    assert find("gpt-4o") is not None


def test_the_library_may_not_take_a_neighbour_for_one_of_ours() -> None:
    """It matches beginnings; our table is stricter on the models it has."""
    pytest.importorskip("genai_prices")
    assert library.find("claude-opus-4-55") is not None
    assert find("claude-opus-4-55") is None


def test_without_the_library_a_model_is_unknown(alone: None) -> None:
    """Nothing is required: defaults are assumed as for any name that nobody knows."""
    assert find("gpt-4o") is None
    found = provider(model="gpt-4o")
    assert (found.known, found.window, found.price) == (False, 200_000, Price())


def test_what_the_library_says_becomes_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiers become cliffs; unpriced reads and writes cost what sending costs; the hour of the day does not matter."""
    asked: list[datetime] = []
    steps = [SimpleNamespace(start=1_000, price=Decimal(3)), SimpleNamespace(start=9_000, price=Decimal(8))]
    prices: dict[str, Any] = dict.fromkeys(library.KINDS)
    prices["input_mtok"] = SimpleNamespace(base=Decimal(2), tiers=steps)

    def get_prices(when: datetime) -> Any:
        asked.append(when)
        return SimpleNamespace(**prices)

    info = SimpleNamespace(id="m", context_window=None, get_prices=get_prices)
    monkeypatch.setattr(library, "_match", lambda model: ("1.2.3", "p", info))
    found = library.find("x")
    assert found is not None
    assert found.cliffs == ((1_000, 1.5), (9_000, 4.0))
    assert (found.price.cache_read, found.price.cache_write, found.price.cache_write_1h) == (2.0, 2.0, 2.0)
    assert (asked[0].hour, asked[0].tzinfo) == (12, UTC)
    assert provider(model="unheard-of").window == 200_000
    prices["input_mtok"] = None
    library.find.cache_clear()
    assert library.find("x") is None


def test_the_profile_wins() -> None:
    """Price, cliffs and step as the profile says them; without a word the model's own."""
    price = {"input": 1, "output": 2, "cache_read": 0.1, "cache_write": 1, "cache_write_1h": 1}
    table = provider(model="claude-haiku-5-5")
    assert (table.price.cliffs, table.step) == (((100_000, 5.0),), 1)
    said = provider(model="claude-haiku-5-5", price=price, cache={"step": 16})
    assert (said.price.input, said.price.cliffs, said.step) == (1.0, ((100_000, 5.0),), 16)
    steps = [["200k", 2], [300_000, 3.5]]
    assert provider(price={**price, "cliffs": steps}).price.cliffs == ((200_000, 2.0), (300_000, 3.5))
    assert provider(model="claude-haiku-5-5", price={**price, "cliffs": []}).price.cliffs == ()


def test_nearest() -> None:
    """A slip of the pen finds its model, nonsense none."""
    assert nearest("claude-opus-55") == "claude-opus-5-5"
    assert nearest("anthropic/claude-haiku-5.6") == "claude-haiku-5-5"
    assert nearest("qqq") is None


@pytest.mark.corpus
def test_every_recorded_model_is_known() -> None:
    """All models that answered in the recorded sessions are in the table."""
    if not CORPUS.is_dir():
        pytest.skip("the recorded sessions are not beside this repository")
    key = re.compile(r'"(?:model|modelId|model_name)": ?"([^"\\]+)"')
    found = {name for path in CORPUS.rglob("*.*") for name in key.findall(path.read_text("utf-8", "replace"))}
    # A call's argument, a client's own messages, and a name for "whatever is configured": no models.
    found -= {"<synthetic>", "default", "sonnet"}
    assert len(found) >= 10
    assert sorted(name for name in found if find(name) is None) == []


def test_a_version_is_another_model_unless_it_is_a_claude(alone: None) -> None:
    """Platforms number their renderings of Claude; DeepSeek numbers models."""
    assert find("deepseek-chat-v3-0324") is None
    assert find("deepseek-chat-v3") is None
    assert find("claude-opus-4-6-v1") is MODELS["claude-opus-4-6"]


def test_very_long_names_are_unknown_at_once() -> None:
    """Nothing searches or keeps them."""
    start = time.perf_counter()
    assert find("claude-opus-5" + "-0" * 50_000 + "x") is None
    assert find("x" * 201) is None
    assert nearest("claude" + "-0" * 50_000) is None
    assert time.perf_counter() - start < 1
    assert library.find.cache_info().currsize == 0


def test_what_the_library_said_is_kept_for_few_names() -> None:
    """A service that asks for any name does not grow."""
    assert library.find.cache_info().maxsize == 256
