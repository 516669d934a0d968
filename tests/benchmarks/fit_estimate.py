"""Fit the weights of `trimtab.counters.estimate` against o200k_base, and print them with their errors.

    TIKTOKEN_CACHE_DIR=../shared/tiktoken python tests/benchmarks/fit_estimate.py

Texts: every string of 200 to 60,000 characters in the recorded sessions (left out where they are absent), the
paragraphs of languages.txt beside this file, and generated hex, base64, logs, tables, binary, emoji, boxes.
The weights are non-negative and minimise the sum of absolute relative errors (least squares, reweighted).
"""

from __future__ import annotations

import base64
import json
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from trimtab.counters.estimate import PATTERNS, Estimate, counts
from trimtab.counters.tiktoken import Tiktoken

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parents[2] / "shared" / "corpus"
OPAQUE = {
    "data",
    "encrypted_content",
    "provider_specific_fields",
    "signature",
    "textSignature",
    "thinkingSignature",
}
COPIES = {"model_response", "raw_output", "response", "toolUseResult"}
SHARE = {"recorded": 1.0, "generated": 2.0, "language": 10.0}
"""How much one text of each group counts."""

RUNS = {b"....": (b".", 4), b"Q--Q--Q--Q--": (b"Q", 4)}
"""Patterns that may take back what their single characters were given: pattern, single, how many of them."""

FLOOR = 0.04
"""Relative errors below this weigh as in least squares, larger ones as absolute errors."""


class Sample(NamedTuple):
    """One text: its group, where it comes from, and its true tokens."""

    group: str
    source: str
    text: str
    tokens: int


def strings(value: Any) -> Iterator[str]:
    """All strings of a decoded JSON value that a model would read; arguments of calls as JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in ("input", "args", "arguments") and isinstance(item, dict):
                yield json.dumps(item, ensure_ascii=False)
            elif key not in OPAQUE | COPIES:
                yield from strings(item)


def recorded() -> Iterator[tuple[str, str, str]]:
    """Distinct texts of the recorded sessions, with the file they stand in."""
    seen: set[str] = set()
    for path in sorted(path for path in CORPUS.rglob("*") if path.is_file()):
        text = path.read_text(encoding="utf-8", errors="replace")
        for line in text.splitlines() if path.suffix == ".jsonl" else [text]:
            try:
                found = list(strings(json.loads(line)))
            except ValueError:  # a torn line
                continue
            for string in found:
                if 200 <= len(string) <= 60_000 and string not in seen:
                    seen.add(string)
                    yield "recorded", path.name, string


def languages() -> Iterator[tuple[str, str, str]]:
    """The paragraphs of languages.txt."""
    for line in (HERE / "languages.txt").read_text(encoding="utf-8").splitlines():
        language, _, text = line.partition("\t")
        yield "language", language, text


def generated() -> Iterator[tuple[str, str, str]]:
    """Texts that sessions hold rarely but that cost much when they do."""
    rng = random.Random(7)
    words = [
        "ERROR",
        "WARNING",
        "FAILED",
        "TIMEOUT",
        "CONNECTION",
        "REFUSED",
        "DATABASE",
        "SELECT",
        "INSERT",
        "UPDATE",
    ]
    for size in (500, 2_000, 8_000):
        lines = range(size // 64)
        rows = [{"id": rng.randint(1, 9999), "ok": rng.random() < 0.5, "score": round(rng.random(), 4)} for _ in lines]
        log = "2026-11-{:02d}T12:{:02d}:{:02d}.{:03d}Z INFO worker-{} took {} ms"
        texts = {
            "hex": rng.randbytes(size // 2).hex(),
            "hexdump": "\n".join(f"{16 * n:08x}  {rng.randbytes(16).hex(' ')}" for n in lines),
            "base64": base64.b64encode(rng.randbytes(size * 3 // 4)).decode(),
            "base64 lines": base64.encodebytes(rng.randbytes(size * 3 // 4)).decode(),
            "digits": "".join(rng.choices("0123456789", k=size)),
            "table": "\n".join(
                f"{1e3 * rng.random():.3f}\t{rng.randint(0, 99999)}\t{rng.randint(0, 9)}" for _ in lines
            ),
            "log": "\n".join(log.format(*(rng.randint(10, 28) for _ in range(6))) for _ in lines),
            "upper": " ".join(rng.choices(words, k=size // 8)),
            "json": json.dumps(rows),
            "json indented": json.dumps(rows, indent=2),
            "binary": rng.randbytes(size).decode("utf-8", "replace"),
            "binary as Latin-1": rng.randbytes(size).decode("latin-1"),
            "emoji": "".join(rng.choices("😀🎉🚀✅❌🔥💡🧪", k=size // 8)),
            "boxes": "\n".join("│ " + "─" * rng.randint(3, 20) + " ├── x" for _ in lines),
        }
        for source, text in texts.items():
            yield "generated", source, text


def solve(gram: Sequence[Sequence[float]], target: Sequence[float]) -> list[float]:
    """Non-negative least squares by coordinate descent on the normal equations."""
    weights = [0.0] * len(target)
    for _ in range(1_500):
        for j, row in enumerate(gram):
            if row[j]:
                rest = target[j] - sum(g * w for g, w in zip(row, weights, strict=True))
                weights[j] = max(0.0, weights[j] + rest / row[j])
    return weights


def fit(samples: Sequence[Sample]) -> list[float]:
    """The weight of each pattern of `PATTERNS`."""
    index = {pattern: n for n, (_, pattern, _) in enumerate(PATTERNS)}
    rows = []
    for sample in samples:
        found = counts(sample.text)
        for run, (single, length) in RUNS.items():
            found[index[single]] -= length * found[index[run]]
        rows.append([count / sample.tokens for count in found])
    shares = [SHARE[sample.group] for sample in samples]
    weights, scale = [0.0] * len(PATTERNS), shares
    for _ in range(8):
        gram = [[0.0] * len(PATTERNS) for _ in PATTERNS]
        target = [0.0] * len(PATTERNS)
        for row, share in zip(rows, scale, strict=True):
            present = [(n, value) for n, value in enumerate(row) if value]
            for n, value in present:
                target[n] += share * value
                for m, other in present:
                    gram[n][m] += share * value * other
        weights = solve(gram, target)
        errors = [abs(sum(w * v for w, v in zip(weights, row, strict=True)) - 1) for row in rows]
        scale = [share / max(error, FLOOR) for share, error in zip(shares, errors, strict=True)]
    for run, (single, length) in RUNS.items():
        weights[index[run]] -= length * weights[index[single]]
    return weights


def show(title: str, samples: Sequence[Sample], weights: Sequence[float]) -> None:
    """One line of errors of ``weights`` on ``samples``."""
    if not samples:
        return
    errors = []
    for sample in samples:
        total = sum(weight * count for weight, count in zip(weights, counts(sample.text), strict=True))
        errors.append(total / sample.tokens - 1)
    sizes = sorted(map(abs, errors))
    figures = (statistics.median(sizes), sizes[int(0.95 * len(sizes))], sizes[-1], statistics.mean(errors))
    line = "median {:6.1%}  p95 {:6.1%}  max {:6.1%}  mean {:+6.1%}".format(*figures)
    print(f"{title:28} {len(samples):5}  {line}")


def speed(text: str) -> float:
    """Megabytes a second for a text."""
    estimate, start = Estimate(), time.perf_counter()
    for _ in range(5):
        estimate(text)
    return 5 * len(text.encode()) / 1e6 / (time.perf_counter() - start)


def main() -> None:
    """Fit, print the errors, the weights and the speed."""
    tokens = Tiktoken()
    found = [*recorded(), *languages(), *generated()]
    samples = [Sample(group, source, text, tokens(text)) for group, source, text in found]
    files = sorted({sample.source for sample in samples if sample.group == "recorded"})
    random.Random(1).shuffle(files)
    kept = set(files[::2])
    long = [sample for sample in samples if sample.group == "recorded" and len(sample.text) >= 500]
    short = [sample for sample in samples if sample.group == "recorded" and len(sample.text) < 500]
    half = fit([sample for sample in samples if sample.group != "recorded" or sample.source in kept])
    show("fitted on the other files", [sample for sample in long if sample.source not in kept], half)
    weights = fit(samples)
    show("recorded, 500 characters up", long, weights)
    show("recorded, shorter", short, weights)
    for source in dict.fromkeys(sample.source for sample in samples if sample.group != "recorded"):
        show(source, [sample for sample in samples if sample.source == source], weights)
    for (_, pattern, _), weight in zip(PATTERNS, weights, strict=True):
        print(f"{pattern.decode():14} {weight:.3f}")
    text = "".join(sample.text for sample in samples if sample.text.isascii())[:2_000_000]
    print(f"{speed(text):.0f} MB/s on ASCII, {speed(text[:1_000_000] + '会话' * 9):.0f} MB/s on other text")


if __name__ == "__main__":
    main()
