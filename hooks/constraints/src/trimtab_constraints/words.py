"""Words that several patterns share: amounts, dates, verbs of orders, names of languages and units."""

from __future__ import annotations

import re

__all__ = ["AMOUNT", "DATE", "FORMAT", "LANGUAGE", "STYLE", "VERB", "ZH_DATE", "ZH_NUMBER", "any_of"]

_ONES = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy"
    "|eighty|ninety|hundred|thousand|million|dozen|half|couple"
)
AMOUNT = (
    rf"(?:(?:[$€£¥]|usd|eur|us\$)\s?\d[\d,.]*\s?(?:k|m|bn)?\b|\d[\d,.]*\s?(?:k|m|%|bn)?"
    rf"|\b(?:{_ONES})(?:[ -](?:{_ONES}|and))*\b)"
)
"""A number in digits or words, with currency or per cent."""
_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
DATE = (
    rf"(?:(?:(?:the |next |this |coming )*(?:{_DAY}|week(?:end)?|month|quarter|year|sprint|morning|evening))"
    rf"|(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b|{_MONTH}\.? \d{{1,2}}\b|\d{{4}}-\d\d(?:-\d\d)?"
    rf"|\d{{1,2}}[./]\d{{1,2}}[./]?\d*"
    rf"|(?:in |mid-?|early |late )?{_MONTH}(?: \d{{4}})?\b|the \d{{1,2}}(?:st|nd|rd|th)|tomorrow|tonight|today"
    rf"|noon|midnight|eod|eow|cob"
    rf"|(?:the )?(?:end|close|start|beginning) of (?:the |this |next )?(?:business|{_DAY}|\w+)"
    rf"|\d{{1,2}}(?::\d\d)? ?[ap]\.?m\b|\d{{1,2}}:\d\d|q[1-4]\b)"
)
"""A day or a time."""
VERB = (
    "(?:abort|act|add|address|aim|announce|answer|apply|archive|ask|assign|assume|attach|avoid|back up|begin|book"
    "|bring|build|call|cap"
    "|cc|charge|check|cite|close|comment|commit|communicate|compile|confirm|contact|convert|copy|create|deploy"
    "|describe|display"
    "|document|double-check|draft|email|end|escalate|explain|express|favou?r|finish|fix|follow|format|gate|get"
    "|give|go|greet|group|hand"
    "|handle|hold|include|inform|insert|install|keep|label|leave|limit|list|log|maintain|make|mark|measure|mention"
    "|merge|name|notify|number"
    "|obey|offer|open|order|page|pass|pause|pick|pin|place|plan|post|prefer|prefix|present|preserve|print"
    "|prioriti[sz]e|provide|publish"
    "|push|put|quote|read|rebase|record|refer|refresh|regenerate|reject|release|remember|remind|render|reply"
    "|report|request|require|respect|respond"
    "|restrict|return|review|round|route|run|save|schedule|seek|send|separate|set|ship|show|sign|speak|spell|split"
    "|squash|start|state|stay"
    "|stick|stop|store|submit|summari[sz]e|tag|take|talk|target|tell|test|translate|treat|update|upload|use"
    "|validate|verify|wait|work"
    "|wrap|write)"
)
"""What an order begins with."""
LANGUAGE = (
    "(?:english|german|french|spanish|italian|portuguese|dutch|polish|russian|chinese|mandarin|japanese|korean"
    "|arabic|hindi"
    "|turkish|swedish|danish|norwegian|finnish|czech|greek|ukrainian|latin)"
)
FORMAT = (
    rf"(?:{LANGUAGE}|metric|imperial|si units|units?|celsius|fahrenheit|kelvin|kilomet\w+|miles|kilograms?|pounds"
    rf"|utc|gmt|c?est?|pst|pdt|edt"
    r"|(?:time ?zone|(?:pacific|eastern|central|mountain|local|tokyo|berlin|london|paris) time)|iso(?:[ -]?8601)?"
    r"|yyyy\S*|dd[-/.]mm\S*"
    r"|24[- ]hour|12[- ]hour|markdown|plain text|json|yaml|csv|xml|bullet(?:ed|s| points?| lists?)?|euros?|eur|usd"
    r"|dollars|decimals?"
    r"|camelcase|camel case|snake_case|snake case|kebab\S*|tabs|spaces|indentation|spelling|emojis?|tone|style"
    r"|voice|format|lower[- ]?case|sentence case|upper[- ]?case"
    r"|title case|(?:first|third) person|present tense|imperative mood|oxford commas?|plain language|layman\S*"
    r"|(?:one|two|three|\d+) (?:short )?(?:sentences?|paragraphs?|lines?|words?)"
    r"|haiku|rhymes?|terse|brief|short|concise|succinct|formal|informal|playful|friendly|polite|detailed|verbose"
    r"|chatty|casual|professional)"
)
"""What an answer may look like."""
STYLE = (
    "(?:terse|brief|short|concise|succinct|verbose|detailed|long|playful|formal|informal|friendly|casual|light"
    "|humorous|professional|serious|warm"
    "|dry|chatty|elaborate|blunt|cheerful|whimsical|businesslike|expansive|thorough|lighthearted|wordy|curt"
    "|laconic|upbeat|neutral)"
)
"""How an answer may sound."""
ZH_NUMBER = r"[\d零〇一二三四五六七八九十百千万亿两]"
ZH_DATE = (
    rf"(?:(?:本|下|这)?(?:周|星期|礼拜)[一二三四五六日天末]|明天|今天|后天|月底|年底|月初|(?:{ZH_NUMBER}+年)?{ZH_NUMBER}+月(?:{ZH_NUMBER}+[日号])?"
    rf"|{ZH_NUMBER}+[日号]|{ZH_NUMBER}+点|\d{{4}}-\d\d-\d\d|中午|午夜|下班)"
)


def any_of(*patterns: str) -> re.Pattern[str]:
    """One pattern that matches where one of these does, in either case."""
    return re.compile("|".join(f"(?:{one})" for one in patterns), re.IGNORECASE)
