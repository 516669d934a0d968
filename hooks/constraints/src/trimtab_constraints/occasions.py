"""When and where a sentence holds, as far as it says so: a rule for some occasions never replaces one for all."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trimtab_constraints.words import AMOUNT, DATE, LANGUAGE, STYLE, VERB, ZH_NUMBER

__all__ = ["differ"]

MANNERS = frozenset({"language", "style", "time zone", "units"})
"""Subjects that are about how something is said: to whom and where are occasions of them."""

_VALUE = re.compile(
    rf"\b(?:{LANGUAGE}|{STYLE}|metric|imperial|us customary|si)\b"
    r"(?: (?:units?|measure(?:ment)?s?|system|tone|style|voice|way))?"
    r"|\bin (?:an? )?[\w-]+ (?:style|tone|voice)\b|\bstyle is \S+|\bwith no \S+"
    r"|\b\w+/\w+(?: time ?zone)?|(?:\b[a-z]\w* )?(?:standard |daylight )?\btime(?: ?zone)?\b"
    rf"|\b(?:utc|gmt|[cew]es?t|[pem][sd]t|ist|jst|aest)\b|\b(?!week)(?:{DATE})(?!s\b)|{AMOUNT}"
    r"|(?<=branch )\S+|\bfrom now on\b"
    r"|\b(?:for|in|at|on|during) (?:now|general|the future|future|(?:the|this) moment)\b"
    r"|\b(?:if|where|when)(?:ever)? (?:possible|needed|necessary|you (?:can|like))\b",
    re.IGNORECASE,
)
"""What is no occasion: values, and what says that something holds from now on or where it can."""
_END = (
    r"(?=\s*(?:[^\w\s'’-]|$)|\s+(?:is|are|was|must|should|shall|will|can|may|has|have|needs?|goes|go|stays?"
    r"|continues?|happens?|and|but|so|to|in|on|with|at|from|for|about|by|until|before|after|use|we|i|you|□)(?!\w))"
)
_OCCASION = re.compile(
    r"\b(?:when(?:ever)?|if|unless|while|as soon as|in case|except"
    r"|during|between|among|inside|outside|per|once|at night|weekends?|weekdays?|holidays?"
    r"|(?:on|every|each) (?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b[^,;.:!?]*"
    rf"|\b(?:for|about)\b(?: [\w'-]+?){{1,4}}?{_END}",
    re.IGNORECASE,
)
_AROUND = re.compile(
    rf"\b(?:to|in|on|at|towards?|from|with(?= the| our| my))\b(?: [\w'-]+?){{1,4}}?{_END}", re.IGNORECASE
)
"""To whom and where."""
_WHOLE = re.compile(
    rf"\b(?:over|above|beyond|exceeding|(?:more|larger|higher) than) {AMOUNT}(?: dollars| euros)? (?:also |always )?"
    r"(?:needs?|requires?|must|has to|have to|should|is|are|goes?|gets?|ask)\b"
    rf"|\b(?:approves|reviews)\b.*\b(?:over|above|below|under|up to) {AMOUNT}"
    rf"|超过{ZH_NUMBER}+(?:元|块|美元|欧元)(?:的|就|时|以上|要|需|必须|须|由|得)"
    r"|(?:当|如果|若是?|假如|万一|一旦|每逢|除了|关于|对于?|针对|给|跟|和|向)(?!我|你)[^，。；、]+?(?=时|的话|[，。；、用由要]|$)"
    r"|在(?!分支)[^，。；、]{1,12}?(?=[里中上内])|[^，。；、在]{1,12}(?=[里中]用)|周末"
    r"|节假日|夜间|晚上|[^，。；、]{2}期间|(?<![^，。；、：])"
    r"(?!请|以后|今后|统一|一律|都)[^，。；、：]{3,12}(?=用[中英德法日韩][文语])|[^，。；、]{2,12}(?=时，)",
    re.IGNORECASE,
)
"""Amounts from which on something is asked for, and occasions in Chinese: the other sentence has them word by word."""
_ORDER = re.compile(
    rf"^[A-Z][A-Z ]*:|\b(?:{VERB}(?:s|ing)?|(?:answer|response|explanation)s?|repl(?:y|ies)"
    r"|user|wants?|prefer\w*|always|ever)\b",
    re.IGNORECASE,
)
_NO_THING = (
    "a|about|all|an|and|any|app|are|as|at|be|been|both|but|by|can|clock|clocks|conversation|cost|costs|date|dates"
    "|duty|each|effort|every|everyone|everything|expense|expenses|fine|for|from|get|getting|good|has|have|here|how"
    "|i|if|in|is|it|its|like|long|may|me|measurement|measurements|mine|more|must|my|new|of|okay|on|only|or|our"
    "|please|project|rather|remember|report|reports|rule|session|shall|should|so|spending|status|team|than|that"
    "|the|their|them|then|there|these|they|this|those|time|times|timestamp|timestamps|to|too|update|us|was|way|we"
    "|week|whole|will|with|work|would|you|your|yours"
)
_PLAIN = frozenset(_NO_THING.split("|"))
"""Words that narrow nothing."""
_CHANGED = re.compile(
    r"\b(?:now|from (?:now|here) on|going forward|instead|chang\w+|moved?|switch\w*|renamed|update"
    r"|slipped|tak\w+ over|handed)\b",
    re.IGNORECASE,
)
"""Says that this holds in place of something."""
_ADDS = re.compile(r"^(?:[A-Z][A-Z ]*: ?)?[A-Z][\w'’-]* (?:reviews|approves)\b")
"""Names one who does it, perhaps beside others."""


def differ(old: str, new: str, names: Iterable[str]) -> bool:
    """Whether one of two sentences about some subjects names an occasion or a thing that the other one does not name.

    Where the new one says that something changes, only what is certainly an occasion counts.
    """
    manner = not MANNERS.isdisjoint(names)
    if not _CHANGED.search(new):
        if manner and (_left(new) - _words(old) or _left(old) - _words(new)):
            return True
        if _ADDS.search(old) or _ADDS.search(new):
            return True
    return _beyond(old, new, manner) or _beyond(new, old, manner)


def _left(said: str) -> set[str]:
    """Words that are neither value nor order nor plain."""
    return _words(_ORDER.sub(" ", _VALUE.sub(" ", said)))


def _beyond(said: str, other: str, manner: bool) -> bool:
    """Whether a sentence has an occasion of which the other one says nothing."""
    bare = _VALUE.sub("□", said)
    found = [*_OCCASION.finditer(bare), *(_AROUND.finditer(bare) if manner else ())]
    words = {word for one in found for word in _words(one[0])}
    return bool(words - _words(other)) or any(one[0] not in other for one in _WHOLE.finditer(said))


def _words(text: str) -> set[str]:
    """What narrows, each word without its plural."""
    return {word.removesuffix("s") for word in re.findall(r"[a-z][\w'’]*", text.lower()) if word not in _PLAIN}
