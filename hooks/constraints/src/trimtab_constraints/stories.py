"""English sentences that look like instructions and are none, and what says by itself that it holds on."""

from __future__ import annotations

import re

from trimtab_constraints.words import DATE, VERB, any_of

__all__ = ["STANDING", "bare", "polite", "told"]

_REMARK = re.compile(r"(?:great|good|nice|fine|ok(?:ay)?|looks good|sure)\W+but (?:keep|bear) in mind", re.IGNORECASE)
"""A remark on the answer before it, not on what is to come."""
_OPENING = re.compile(
    r"(?:(?:ok(?:ay)?|yes|yeah|yep|no|sure|thanks|thank you|great|good|fine|alright|right|well|hey|hi|hello|btw"
    r"|by the way|oh"
    r"|actually|finally|lastly|first|second|third|again|sorry|one (?:more|last|other) thing|to be clear"
    r"|(?:current )?status|open (?:question|point|issue)|for the record|note that"
    r"|just so you know|fyi|also|and|but|so|then|plus|as a rule|in general|generally|as a reminder|reminder|in addition"
    r"|additionally|moreover|internally|arguments|whatever happens|absolutely|seriously|importantly)[,:;.!—–-]+\s*"
    r"|(?:and|but|so|also|please|kindly|oh|then|just|hey|plus|note that|absolutely|strictly)\s+)+",
    re.IGNORECASE,
)
STANDING = any_of(
    r"\bfrom (?:now|here|today|this point|this moment)(?: on(?:wards?)?| forward| out)\b|\bfrom now\b"
    r"|\bgoing forward\b|\bhenceforth\b|\bhereafter\b",
    r"\b(?:for|during|throughout) (?:the (?:rest|remainder|duration|length) of|(?:all|the whole) of|this (?:whole"
    r"|entire)) (?:this |our |the |today'?s? |my )?(?:session|conversation|chat|project|day|week|month|engagement"
    r"|task|sprint|trip|work|year|migration|thread|collaboration)",
    r"\b(?:for|during|throughout|in) (?:this|our) (?:whole |entire )?(?:session|conversation|chat|thread)\b",
    r"\buntil (?:further notice|i (?:say|tell you|ask|change|lift)|told otherwise|i say so)\b|\bat all times\b"
    r"|\bwithout exception\b|^as long as\b",
    rf"^(?:from|as of|starting|effective) (?:on )?{DATE}(?! to\b)",
    r"^(?:please )?in (?:the )?future\b(?! (?:versions?|sessions?|releases?))|\b(?:effective"
    r"|starting) (?:immediately|today|now|tomorrow)\b|\bas of (?:today|now)\b(?=.*\b(?:use|must|should|will|please"
    r"|is|are)\b)",
)
"""Says by itself that it holds on."""

_REJECTED = any_of(
    r"^(?:why|how|what|where|who|which|when does|when do|when is|is|are|was|were|do you|do we|does|did|has"
    r"|have you|don'?t (?:you|we|they)|isn'?t|aren'?t|doesn'?t|wouldn'?t it|shouldn'?t)\b(?!ever)",
    r"^(?:i (?:think|guess|suppose|wonder|believe|mean|see|know|don'?t know|never|just|had|have|was|am|tried|got"
    r"|saw|noticed|found|changed|switched|moved|added|removed|fixed)|i'?m|i'?ve|looks? (?:like|at)|seems?|maybe"
    r"|perhaps)\b(?!.*\b(?:from now on|going forward)\b)(?!.*\ballergic\b)",
    r"^(?:you|we|it|he|she|they|this|that) (?:didn'?t|did not|don'?t|do not|doesn'?t|haven'?t|hadn'?t|wasn'?t"
    r"|weren'?t|forgot|broke|still)\b(?!.*\b(?:need to ask|want you|accept|allow|ship|deploy)\b)",
    r"^no[,.!]? (?:idea|worries|problem|need|way|matter|doubt|that|it|this|wait|sorry|thanks|one)\b(?! one (?:may"
    r"|must|should|can|is))",
    r"^(?:to (?:hide|suppress|avoid|prevent|fix|reproduce|disable|enable|see)\b|let'?s (?!(?:always|never|stick"
    r"|keep|agree)\b))",
    r"^(?:can|could|would|will) (?:you|we|i)\b",
    r"^(?:add|write|create|implement|build|generate|make) (?:an? |the |some )?(?:\w+ ){0,3}(?:check|test|tests"
    r"|function|validator|method|class|loop|assertion|guard|hook|script|rule|handler|option|page"
    r"|button)\b(?!.*\b(?:from now on|always|every time|going forward)\b)",
    rf"^(?:don'?t|do not) [^,]+, (?:first )?{VERB}?[^,]* first\W*$|^{VERB} .*[-–—,]\s*(?:but )?(?:don'?t"
    rf"|do not) \w+\W*$",
)
"""Questions, stories, tasks."""
_SPECIFIED = re.compile(
    r"(?:^|\s)(?:[a-z]+[A-Z]\w*|\w+_\w+|[a-z]|\w+\(\)|[\w/]+\.(?:py|ts|js|go|rs|java|c|h)) (?:must|should|may"
    r"|shall)\b"
)
"""What a name in code must be: part of a task. Over the sentence as written."""


def bare(said: str) -> str:
    """A sentence without its opening words ("ok, and please"), in lower case."""
    opening = _OPENING.match(said)
    return said[opening.end() if opening else 0 :].lower()


def polite(said: str) -> bool:
    """Whether a question is an order for the future: "can you from now on …?"."""
    return bool(re.match(r"(?:please |and |also )*(?:can|could|would|will) (?:you|we|everyone)\b", said)) and bool(
        STANDING.search(said) or re.search(r"^\W*(?:\w+ ){2,4}(?:always|never)\b", said)
    )


def told(said: str) -> bool:
    """Whether a sentence is a question, a story, a task, or part of one."""
    rest = bare(said)
    return bool(re.search(r"\?\W*$", rest) or _REJECTED.search(rest) or _SPECIFIED.search(said) or _REMARK.match(said))
