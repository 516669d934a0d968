"""Labels: "SAFETY RULE: …", "FACT: …", "Note: …", "规则：…"."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Label", "label"]

_KNOWN = re.compile(
    r"""(?:(?:hard|soft|strict|safety|security|house|ground|team|project|company|firm|new|standing|golden|key|core
        |operating|important|general|budget|privacy|legal|style|quick|policy|schedule|scope|status|critical|goal
        |design|current|final|user)[ -]){0,2}
    (?:rules?|constraints?|facts?|goals?|goal[ ]state|objectives?|notes?|important|updates?|reminder|policy
    |requirements?|preferences?|decisions?|limits?|deadline|budget|permissions?|restrictions?|instructions?
    |guardrails?|invariants?|conventions?|guidelines?|correction|heads[ -]up|remember|attention|caution|nota[ ]bene
    |nb|n\.b\.|memo|announcement|change[ ]of[ ]plans?|assumptions?|definition|boundary
    |for[ ]the[ ]record)
    (?:[ ](?:no\.?[ ]?|\#)?\d{1,3})?(?:[ ]change)?""",
    re.VERBOSE | re.IGNORECASE,
)
_CAPITALS = re.compile(r"[A-Z][A-Z]{2,}(?:[ /&_-][A-Z0-9]+){0,4}")
_OTHER = re.compile(
    r"(?:ERRORS?|WARN(?:ING)?S?|INFO|DEBUG|FAIL(?:ED|URE)?|PASS(?:ED)?|TODO|FIXME|XXX|HACK|ISSUE|INSTRUCTIONS"
    r"|ARGUMENTS|EXAMPLES?|QUESTION|ANSWER"
    r"|RESULTS?|OUTPUT|INPUT|STDOUT|STDERR|TRACE|BEFORE|AFTER|EXPECTED|ACTUAL|USAGE|NAME|URL|HTTPS?|FILE|PATH|LINE"
    r"|TITLE|STATUS|COMPLETED|PENDING"
    r"|SUMMARY|CHANGES|DEPS|DONE|NEXT|STEPS?|TASK|BUG|GET|POST|PUT|DELETE|SELECT|LOG|TEST|TLDR|EDIT|UPDATE \d+"
    r"|FATAL|CONTEXT|CODE|USER|SYSTEM|ASSISTANT"
    r"|[A-Z]+_[A-Z_]+)"
)
"""What stands before a colon in logs, forms and code."""
_CHINESE = re.compile(
    r"(?:安全|硬性|重要|团队|项目|最新|当前|强制|请)?(?:规则|约束|规定|事实|目标状态|目标|注意|重要|更新|备注|提醒|要求|政策|须知|决定|通知|偏好|限制|更正|约定|原则)"
    r"(?:事项|[一二三四五\d]{1,2})?"
)
_WEAK = re.compile(
    r"notes?|reminder|remember|heads[ -]up|attention|memo|announcement|instructions?|definition", re.IGNORECASE
)
"""Labels that people also put before what they only mention; in capitals they count."""
_RULE = re.compile(r"rule|constraint|polic|limit|restrict|guardrail|规则|约束|规定|限制", re.IGNORECASE)
_CHAT = re.compile(
    r"(?:i |i'|we'?re (?:still|done)|fixed|done\b|it (?:works|worked|still|fails|failed)|still|never ?mind|works"
    r"|works now|see )",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Label:
    """What stands before the colon."""

    word: str
    rule: bool
    """Whether it says rule, constraint or the like."""


def label(said: str) -> Label | None:
    """The label at the start of a sentence with something behind it; None where it is that of a log or form."""
    head, mark, rest = (
        said.partition("：") if "：" in said[:40] and ":" not in said[:40].split("：")[0] else said.partition(":")
    )
    head, rest = head.strip(" *_[]【】("), rest.strip(" *_")
    if not mark or len(head) > 40 or len(rest) < 4 or rest.endswith(("?", "？", ":", "：")) or rest.startswith("//"):
        return None
    known = _KNOWN.fullmatch(head) or _CHINESE.fullmatch(head)
    if known and _WEAK.fullmatch(head) and not head.isupper():
        return None
    if known:
        return (
            None
            if (head.islower() and len(rest.split()) < 3) or _CHAT.match(rest.lower())
            else Label(head, bool(_RULE.search(head)))
        )
    if _CAPITALS.fullmatch(head) and not _OTHER.fullmatch(head) and len(rest.split()) >= 3:
        return Label(head, bool(_RULE.search(head)))
    return None
