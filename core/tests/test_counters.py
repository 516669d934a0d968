"""Token counters: the estimate, tiktoken, and the choice between them."""

from __future__ import annotations

import builtins
import json
import os
import random
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.counters import choose
from trimtab.counters.estimate import Estimate
from trimtab.counters.tiktoken import PIECE, RANKS, Tiktoken
from trimtab.errors import Unknown

SHARED = Path(__file__).resolve().parents[3] / "shared"
CORPUS = SHARED / "corpus"
OPAQUE = {"data", "encrypted_content", "signature", "textSignature", "thinkingSignature", "toolUseResult"}

CHINESE = (
    "请先检查上下文窗口还剩多少空间，再决定是否需要压缩旧的工具结果。如果文件已经被重"
    "新读取，较早的版本就可以用一行说明代替。"
)
KOREAN = (
    "요청을 보내기 전에 시스템은 남은 공간을 확인하고, 필요하면 오래된 도구"
    " 결과를 줄입니다. 원본이 저장된 위치도 함께 알려 줍니다."
)
ENGLISH = "Before each request the system checks how much room is left, and shortens old tool results where it has to."

texts = st.text(st.characters(exclude_categories=()), max_size=300)


@pytest.fixture
def ranks(monkeypatch: pytest.MonkeyPatch) -> Path:
    """TIKTOKEN_CACHE_DIR set to a folder that holds the o200k ranks; skips where there is none."""
    for folder in (os.environ.get("TIKTOKEN_CACHE_DIR"), SHARED / "tiktoken"):
        if folder and (Path(folder) / RANKS).is_file():
            monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
            pytest.importorskip("tiktoken")
            return Path(folder)
    pytest.skip("the o200k ranks are not on this machine")


def near(text: str, tokens: int, share: float) -> bool:
    """Whether the estimate of ``text`` lies within ``share`` of ``tokens``."""
    return abs(Estimate()(text) / tokens - 1) <= share


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (ENGLISH, 23),
        ("def total(rows: list[Row]) -> int:\n    return sum(row.size for row in rows if row.seen)\n", 25),
        (json.dumps({"path": "/src/app.py", "line": 120, "tags": ["a", "b"], "ok": True}), 28),
        ("d41d8cd98f00b204e9800998ecf8427e" * 4, 73),
        ("=" * 300, 5),
    ],
    ids=["prose", "code", "json", "hex", "rule"],
)
def test_estimates_each_kind_of_text(text: str, tokens: int) -> None:
    """Prose, code, JSON and hashes come out within a seventh of the true count, a drawn rule below 40."""
    assert near(text, tokens, 0.15) or (text.startswith("=") and Estimate()(text) < 40)


def test_H54_cjk_is_not_counted_by_four_characters() -> None:
    """Chinese and Korean weigh 2-4 times what characters over four would say."""
    for text in (CHINESE, KOREAN):
        assert Estimate()(text) > 2 * len(text) / 4


def test_H55_cjk_is_not_counted_a_token_for_each_character() -> None:
    """Chinese and Korean come out within a fifth of their true count, Chinese below 0.9 a character."""
    assert near(CHINESE, 40, 0.2)
    assert near(KOREAN, 39, 0.2)
    assert Estimate()(CHINESE * 100) < 0.9 * len(CHINESE * 100)


@given(texts, texts)
def test_an_estimate_is_positive_and_adds_up(left: str, right: str) -> None:
    """Any text, lone surrogates included, has a token or more; joining two matters only at the seam."""
    estimate = Estimate()
    assert estimate(left) >= bool(left)
    assert abs(estimate(left + right) - estimate(left) - estimate(right)) <= 12


def test_the_empty_text_has_no_tokens(ranks: Path) -> None:
    """Both counters say 0 for nothing."""
    assert Estimate()("") == Tiktoken()("") == 0


def test_estimating_is_fast() -> None:
    """A megabyte of mixed ASCII takes below 100 ms: a third of its speed, for busy machines."""
    text = (ENGLISH + "\n\tif row.size > 4096: return {'id': 17, \"name\": None}\n") * 6000
    best = min(timed(lambda: Estimate()(text)) for _ in range(5))
    assert best / (len(text) / 1e6) < 0.1


def timed(run: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def test_tiktoken_counts_exactly(ranks: Path) -> None:
    """The sentences of this file have the counts stated here; special tokens are plain text."""
    count = Tiktoken()
    assert [count(ENGLISH), count(CHINESE), count(KOREAN)] == [23, 40, 39]
    assert count("<|endoftext|>") > 1
    assert count("a \ud800 b") == count("a \ufffd b")


def test_tiktoken_is_exact_across_pieces(ranks: Path) -> None:
    """A long text cut at line ends or spaces counts like the whole."""
    import tiktoken

    whole = tiktoken.get_encoding("o200k_base")
    rng = random.Random(3)
    words = [rng.choice(["alpha", "beta(x)", "  gamma", "délta", "42", "会话"]) for _ in range(20_000)]
    for text in (" ".join(words), "\n".join(words)):
        assert len(text) > 3 * PIECE
        assert Tiktoken()(text) == pytest.approx(len(whole.encode_ordinary(text)), rel=1e-3)


@pytest.mark.parametrize("character", ["a", " ", "\n", "会"], ids=ascii)
def test_tiktoken_survives_a_long_run(ranks: Path, character: str) -> None:
    """A million times one character takes a moment and does not overflow the tokenizer's stack."""
    count, text = Tiktoken(), character * 1_000_000
    assert timed(lambda: count(text)) < 5
    assert 0 < count(text) <= len(text)


def test_tiktoken_without_ranks_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No ranks, no variable value, or a damaged file: an error at once, no download, and the file stays."""
    pytest.importorskip("tiktoken")
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("tried the network"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(Unknown, match=r"not in .*TIKTOKEN_CACHE_DIR.*use the counter 'estimate'"):
        Tiktoken()
    (tmp_path / RANKS).write_bytes(b"IQ== 0\n")
    with pytest.raises(Unknown, match="is not the o200k ranks"):
        Tiktoken()
    assert (tmp_path / RANKS).exists()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(Unknown, match="set TIKTOKEN_CACHE_DIR to a folder"):
        Tiktoken()


def test_tiktoken_looks_in_its_own_temporary_folder(
    ranks: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without a variable the ranks are taken from tiktoken's default cache."""
    (tmp_path / "data-gym-cache").mkdir()
    shutil.copy(ranks / RANKS, tmp_path / "data-gym-cache" / RANKS)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert Tiktoken()("hello") == 1


def test_tiktoken_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing package is an error that names the extra to install."""
    real = builtins.__import__

    def missing(name: str, *rest: Any, **named: Any) -> Any:
        if name == "tiktoken":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(Unknown, match=r"pip install 'trimtab\[tiktoken\]'"):
        Tiktoken()
    assert choose().name == "estimate"


def test_auto_takes_tiktoken_when_it_can(ranks: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`auto` is tiktoken with ranks, the estimate without."""
    assert choose().name == "tiktoken:o200k"
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert choose().name == "estimate"


def test_choose_by_name() -> None:
    """A registered name is taken, an unknown one is an error with the nearest."""
    assert choose("estimate")("hello") == 1
    with pytest.raises(Unknown, match="did you mean 'estimate'"):
        choose("estimat")


def strings(value: Any) -> Iterator[str]:
    """Strings of a decoded JSON value that a model would read; call arguments as JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in ("input", "args") and isinstance(item, dict):
                yield json.dumps(item, ensure_ascii=False)
            elif key not in OPAQUE:
                yield from strings(item)


def recorded() -> set[str]:
    """Distinct texts of 500 to 60,000 characters in all recorded sessions."""
    found: set[str] = set()
    for path in sorted(path for path in CORPUS.rglob("*") if path.is_file()):
        text = path.read_text(encoding="utf-8", errors="replace")
        for line in text.splitlines() if path.suffix == ".jsonl" else [text]:
            try:
                found.update(string for string in strings(json.loads(line)) if 500 <= len(string) <= 60_000)
            except ValueError:  # a torn line
                continue
    return found


@pytest.mark.corpus
def test_estimate_on_recorded_sessions(ranks: Path) -> None:
    """Error of one recorded text: median at most 5 %, 95th percentile 15 %; of all together 2 %."""
    if not CORPUS.is_dir():
        pytest.skip("the recorded sessions are not beside this repository")
    estimate, tokens = Estimate(), Tiktoken()
    pairs = [(estimate(text), tokens(text)) for text in recorded()]
    errors = sorted(abs(guess / true - 1) for guess, true in pairs)
    total = sum(guess for guess, _ in pairs) / sum(true for _, true in pairs) - 1
    median, high = statistics.median(errors), errors[int(0.95 * len(errors))]
    assert len(pairs) > 1000
    assert median <= 0.05
    assert high <= 0.15
    assert abs(total) <= 0.02
