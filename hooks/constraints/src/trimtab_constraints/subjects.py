"""Subjects that hold one value at a time: spending limits, dates, who is on call, and the like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from trimtab_constraints.words import AMOUNT, DATE, LANGUAGE, STYLE, VERB, ZH_DATE, ZH_NUMBER

__all__ = ["FORBIDDING", "REPLACING", "subjects"]


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


REPLACING = _words(
    r"\b(?:previous|old|former|no longer|rotat\w+|instead|replac\w+|supersed\w+|retired|void|obsolete)\b|\bprogress:"
    r"|不再|作废|取代|旧的"
)
"""Says that something else held before and does not any more."""
_NAME = r"(?-i:[A-Z][\w'’-]*|@\w[\w.-]*)"
_TEAM = (
    "frontend|front-end|backend|back-end|database|network|security|infra(?:structure)?|mobile|data|design|weekend"
    "|night|primary|secondary|backup"
)
_ENV = (
    r"production|prod|staging|stage|test(?:ing)?|dev(?:elopment)?|qa|canary|sandbox|preview|demo|analytics"
    r"|reporting|backup|replica|生产|测试|预发布?|开发"
)
_SPEND = (
    "project|travel|trip|conference|team|party|marketing|campaign|cloud|api|storage|training|hardware|software"
    "|office|event|advertising|ads?"
    "|hotel|meals?|food|lunch|dinner|gifts?|equipment|hiring|research|infra(?:structure)?|hosting|compute|llm"
    "|token|department|household"
    "|catering|venue|print(?:ing)?|design|legal|consulting|security|maintenance|taxi|flights?|monthly|weekly|daily"
    "|annual|yearly|quarterly"
)
_SPEND_ZH = "项目|差旅|会议|团队|市场|云|硬件|软件|培训|办公|活动|餐饮|酒店|设备|采购"
_NO_SCOPE = (
    r"(?!(?:the|an?|our|my|your|this|that|these|new|old|previous|current|final|total|overall|hard|maximum|max|all"
    r"|any|every|each|of|is|are|was|be|to|and|now"
    r"|it|we|i|you|everything|everyone|keep|show|report|give|use|has|have|must|deadline|date|due|target|local|work"
    r"|development|active|on|in|by|for|cap|code"
    r"|reports|status|no|with|limit|spend|shared|same)\b)"
)
"""A word that says nothing of what is meant."""
_DATED = (
    "launch|release|ship|docs?|documentation|freeze|draft|review|report|slides|grant|application|paper|demo|beta|alpha"
    "|design|code|feature|test(?:ing)?|contract|invoice|budget|survey|audit|migration|website|app|api"
    r"|phase \w+|milestone \w+|v\d[\d.]*|training"
)
_NO_NOUN = (
    r"(?:is|are|was|must|may|can|should|shall|will|would|has|have|had|needs?|now|also|then|still|already|only|currently"
    r"|date|day|deadline|due|target|timing|time|schedule|window|and|or|to|by|on|in|at|for|of|it|we|you|they|\w+ed)\b"
)
"""What makes no other thing of the word that it follows, as "notes" does of "release"."""
_SECRET = (
    r"(?:(?<!status )(?<!error )(?<!exit )(?<!response )codes?(?! (?:freeze|review|style|owners?|coverage)\b)"
    r"|pass ?codes?|pass ?phrases?|passwords?|pin"
    r"|secret(?: word| key)?|safe ?word|token|key)"
)
_TOKEN = r"(?<![\w-])(?=[\w-]*\d)[\w-]{3,}"
_CODE_WORD = (
    r"(?!(?:the|a|an|our|my|your|this|that|new|old|previous|current|latest|access|secret|pass|and|is|of|any|disclose"
    r"|reveal|share|never)\b)\w[\w'-]*"
)
_TELL = r"(?:reveal(?:ed)?|disclosed?|shared?|given? out|tell|told|print(?:ed)?|mention(?:ed)?|leak(?:ed)?)"
_HASH = r"(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b"
_SAME = {
    "travel": "trip",
    "prod": "production",
    "docs": "documentation",
    "doc": "documentation",
    "ship": "release",
    "stage": "staging",
    "dev": "development",
}
"""Scopes that are one, each without its plural."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """One row of the table."""

    says: re.Pattern[str]
    """Matches a sentence that states a value of it."""
    scopes: re.Pattern[str]
    """Words that keep two of the same subject apart."""
    masked: re.Pattern[str] | None = None
    """What is no scope, whatever it holds."""
    else_: re.Pattern[str] | None = None
    """Finds scopes where `scopes` finds none."""
    alone: re.Pattern[str] | None = None
    """What a sentence without a scope must say."""


_STATE = r"\W*(?:(?:goal|current|task|work(?:ing)?) stat(?:e|us)|status|当前状态|目前状态)\s*[:：]"
"""A label of what holds for the moment."""

_TABLE: Mapping[str, _Subject] = {
    "spending": _Subject(
        _words(
            rf"\b(?:budget|spend(?:ing)?|expenditures?|expenses?|costs|ceiling)\b.*(?:[$€£¥]\s?\d"
            rf"|{AMOUNT} ?(?:k\b|dollars?|euros?|bucks|usd|eur|gbp|pounds)|[:=] ?{AMOUNT})"
            rf"|(?:预算|支出|花费|费用|开支).*{ZH_NUMBER}+(?:元|块|美元|欧元)"
        ),
        _words(
            rf"\b(?:{_SPEND})(?='?s?\b)|\b(?:per|an?|each|every) (?:night|day|week|month|year|person|head|request"
            rf"|trip)\b|{_SPEND_ZH}"
        ),
        else_=_words(
            rf"\b{_NO_SCOPE}([a-z][\w-]*?)(?:'s)? (?:budget|spend(?:ing)?|costs?|expenses?|ceiling)\b"
            r"|\b(?:on|for) (?!the (?:rest|remainder)|now\b)((?:(?:the|our|this|a) )?\w+(?: \w+)?)"
            r"|(?!总|每月|我们)([\u4e00-\u9fff]{2})(?:预算|费用|支出|花费|开支)"
        ),
    ),
    "date": _Subject(
        _words(
            rf"\b(?:deadline|due|launch\w*|release|ship(?:s|ped|ping)?|go-?live|freezes?|cut-?off|deliver\w*"
            rf"|submi\w+|publish\w*|finish\w*|ready)\b.*\b{DATE}"
            rf"|(?:截止|期限|发布|上线|交付|冻结|提交).*{ZH_DATE}"
        ),
        _words(
            rf"\b(?:ship|release|launch|publish|deliver|submit|finish|complete) (?:(?:the|our|your|my|final) )*"
            rf"({_NO_SCOPE}(?!it\b|early\b"
            rf"|late\b)[a-z][\w-]*(?: [a-z][\w-]*)?) (?=(?:by|on|before|until)\b)"
            rf"|\b((?:{_DATED})(?:['’]?s)? (?!{_NO_NOUN})[a-z]\w+)"
            r"(?= (?:is|are|must|has|have|needs?|should|will|by|on|before|due)\b)"
            rf"|\b(?:{_DATED})s?\b|发布|上线|冻结|草稿|文档|报告|评审|合同|测试"
        ),
        else_=_words(
            rf"\b{_NO_SCOPE}([a-z][\w-]*)(?:'s)? (?:is|are|has|have|must|needs?|deadline|due date|date)\b|\b(?:for"
            rf"|of) (?:the |our )?{_NO_SCOPE}([a-z][\w-]+)|([\u4e00-\u9fff]{{2}})的?(?:截止|期限)"
        ),
        alone=_words(r"\b(?:deadline|due date|cut-?off)\b|截止|期限"),
    ),
    "time zone": _Subject(
        _words(
            r"\b(?:times?|timestamps?|clocks?|dates?|hours|schedules?|time ?zone)\b.*\b(?:utc|gmt|[cew]es?t"
            r"|[pem][sd]t|ist|jst|aest"
            r"|(?:pacific|eastern|central|mountain|local|(?-i:[A-Z]\w+)) (?:standard |daylight )?time"
            r"|\w+/\w+ time ?zone|(?:america|europe|asia|africa|australia)/\w+)\b|\b(?:utc|gmt|[pem][sd]t"
            r"|(?-i:[A-Z]\w+) (?:standard |daylight )?time)\b.*\b(?:times?|timestamps?|clocks?|dates?)\b"
            r"|(?:时间|时区|时间戳).*(?:UTC|北京时间|时间)"
        ),
        _words(
            r"\b(?:meetings?|calendar|invit\w+|cron|logs?|databases?|flights?|invoices?|deploy\w*|jobs?|alerts?"
            r"|customers?)\b|会议|日志|日历"
        ),
        else_=_words(rf"\b{_NO_SCOPE}([a-z][\w-]*) (?:times|timestamps|clocks|dates?)\b"),
    ),
    "name": _Subject(
        re.compile(
            r"(?i:\b(?:code ?name|project name|working title|internal (?:label|name))\b).*\b[A-Z][\w-]+"
            r"|(?i:\b(?:project|effort|initiative|product|programme|program)\b.*\b(?:is|are|was|been"
            r"|be)(?: now)? (?:called|named|known as|designated|renamed(?: to)?|dubbed|labell?ed"
            r"|referred to as)) .*?[A-Z][\w-]+"
            r"|(?i:\b(?:we(?:'re| are| now)?|let's|please|everyone)? ?(?:now )?(?:calling|call|rename|renamed"
            r"|renaming|refer to) (?:the|this|our) (?:project|effort|initiative|product|programme|program)(?: as"
            r"| to)?) .*?[A-Z][\w-]+"
            r"|(?:项目|代号)(?:名称?)?.{0,4}(?:改名为|更名为|改称|叫做?|称为|名为)\S|(?:项目名|项目名称"
            r"|代号).{0,4}(?:改为|是|为)\S"
        ),
        _words(r"\b(?:customer|client|marketing|public|product|programme|program)\b"),
    ),
    "branch": _Subject(
        _words(
            r"\b(?:works?|working|development|develop|switched|rebased|parked|continues?|commits?|moved|happens?"
            r"|goe?s?|based|now|are|am)\b[^,;]*"
            r"\b(?:on|onto|to|from)(?: the)? (?:branch:? [\w./-]*\w|[\w./-]+ branch\W*$)"
            r"|\brebased onto [\w.-]+(?:/[\w.-]+)+"
            r"|\bbranch (?:is|is now|now is|has changed to|has moved to|changed to) (?!based\b)[\w./-]*\w"
            rf"|^{_STATE} ?branch [\w.-]+[/_-][\w./-]+ (?:is|must)\b"
            r"|(?:开发|工作).{0,12}分支|分支.{0,6}(?:是|改为|切换到|换成)"
        ),
        _words(
            r"\b(?:target|default|hotfix(?:es)?|release|docs|documentation|production|experiments?|design|frontend|backend|mobile"
            r"|data|infra)\b"
        ),
        _words(r"\bbranch:? (?!to\b|is\b|has\b|now\b|for\b)\S+|[\w.]+[/-][\w./-]+"),
        else_=_words(
            rf"^(?:the |our )?{_NO_SCOPE}([a-z][\w-]*) (?:work |development )?(?:is|lives|happens|continues|goes"
            rf"|stays)\b"
        ),
    ),
    "base commit": _Subject(
        _words(
            rf"\bbase commit\b.* (?:is|now|to):? {_HASH}|\bbase commit: {_HASH}"
            rf"|\b(?:based on|branched (?:off )?from|branch starts at) commit {_HASH}"
        ),
        _words(r"\b[\w.]+[/_-][\w./-]+\b"),
        else_=_words(rf"\b{_NO_SCOPE}([a-z]\w+) (?:work|branch)\b"),
    ),
    "progress": _Subject(
        _words(r"\b(?:(?:is|are)(?: now)? (?:at|in)|progress(?: is)?:?) phase \d+ of \d+\b"),
        _words(r"\b[a-z]\w+"),
        _words(r"(?-i:^[A-Z][A-Z ]+:)|\b(?:phase|progress|now|we|is|are|in|at|of|the|our)\b"),
    ),
    "on call": _Subject(
        re.compile(
            rf"\b(?:{_NAME}) (?:is|has|owns|holds|takes|carries|covers|handles|will|now"
            rf"|\w+s)\b.*(?i:\b(?:on[- ]call|pager|support|duty|escalations?|rotation)\b)"
            rf"|(?i:\b(?:on[- ]call|pager|support(?: duty| rotation| escalations?)?|duty"
            rf"|escalations?)\b).*\b(?i:is|are|to|by|now|with|belongs?)\b.* {_NAME}"
            r"|值班.*(?:由|是|归|改|给)|\S{2,4}负责值班"
        ),
        _words(rf"\b(?:{_TEAM}|support|billing|customer)\b"),
        else_=_words(rf"\bfor (?:the |our )?{_NO_SCOPE}([a-z][\w-]+)"),
    ),
    "approver": _Subject(
        re.compile(
            rf"\b(?i:only) {_NAME}(?: {_NAME})? (?i:may|can) (?i:now )?(?i:approve)\b"
            rf"|\b{_NAME} (?i:(?:now )?(?:approves|signs off|is (?:now )?(?:the |our )?(?:\w+ ){{0,2}}approver)"
            rf"|(?:has )?(?:takes?n?|took|taking) over (?:the |our |all )?(?:\w+ ){{0,2}}(?:approvals?"
            rf"|sign-?offs?))"
            rf"|(?i:\b(?:approv(?:er|als?)|sign[- ]?offs?)\b).* (?i:is|are|to|by|from|with|goes|go"
            rf"|now)\b.* {_NAME}|(?:审批|批准)人?.*(?:由|是|归|改)"
        ),
        _words(
            r"\b(?:releases?|refunds?|design|budget|deploy\w*|production|staging|security|legal|expenses?"
            r"|purchas\w+|merges?|schema|copy|travel|access|change)\b|发布|退款|采购|预算"
        ),
        else_=_words(
            rf"\bapproves (?:all |the |our )?{_NO_SCOPE}([a-z]\w+)|\b{_NO_SCOPE}([a-z]\w+) approv(?:er|als?)\b"
        ),
    ),
    "reviewer": _Subject(
        re.compile(
            rf"\b{_NAME} (?i:(?:now )?reviews|is (?:now )?(?:the |our )?(?:\w+ ){{0,2}}reviewer"
            rf"|(?:has )?(?:takes?n?|took|taking) over (?:the |our |all )?(?:\w+ ){{0,2}}reviews?)"
            rf"|(?i:\breview(?:er|s)\b).* (?i:is|are|to|by|from|with|go|goes|now)\b.* {_NAME}|评审人?.*(?:由|是|归|改)"
        ),
        _words(
            r"\b(?:design|code|security|legal|docs|documentation|copy|schema|api|release|data|ux|translation)\b|设计|前端|后端"
            r"|安全|代码"
        ),
        else_=_words(rf"\breviews (?:all |the |our )?{_NO_SCOPE}([a-z]\w+)|\b{_NO_SCOPE}([a-z]\w+) reviewer\b"),
    ),
    "units": _Subject(
        _words(r"\b(?:metric|imperial|us customary|si units)\b|公制|英制"),
        _words(r"\b(?:labels?|drawings?|recipes?|exports?)\b"),
    ),
    "style": _Subject(
        _words(
            rf"\b(?:repl(?:y|ies)|answers?|responses?|tone|writing style|voice|explanations?)\b.*\b(?:{STYLE})\b"
            rf"|\b(?:{STYLE})\b.*\b(?:repl(?:y|ies)|answers?|responses?|tone|explanations?)\b"
            r"|\b(?:be|sound|stay|reply|respond|answer|write)(?: \w+)? (?:tersely|briefly|concisely|verbosely"
            r"|playfully|formally|terse|brief|concise|succinct|verbose|playful|formal|informal|chatty|humorous)\b"
            r"|\b(?:answers?|reply|repl(?:y|ies)|responses?|respond)\b.*\bin (?:an? )?[\w-]+ style\b"
            r"|\banswer(?:ing)? style is\b"
            r"|(?:回答|回复|语气|措辞)[^。]*(?:简短|简洁|详细|活泼|正式|幽默|严肃|友好)"
        ),
        _words(
            r"\b(?:e?mails?|commits?|docs|documentation|reports?|customers?|clients?|code|comments?|tickets?)\b|邮件"
            r"|文档|报告|客户"
        ),
    ),
    "language": _Subject(
        _words(
            rf"\b(?:answer|reply|respond|speak|talk|write to me|repl(?:y|ies)|answers?|responses?)\b.*\bin {LANGUAGE}\b"
            rf"|\b(?:switch to|use) {LANGUAGE}\b"
            r"|(?:用|使用|改用)(?:中文|英文|英语|德语|法语|日语|韩语)(?:来)?(?:回答|回复|沟通|交流|作答)"
        ),
        _words(
            r"\b(?:e?mails?|commits?|docs|documentation|reports?|customers?|clients?|code|comments?|tickets?"
            r"|tests?)\b"
        ),
    ),
    "code": _Subject(
        re.compile(
            rf"(?i:\b{_SECRET}(?: \w+)? ?(?:is|was|has been|has(?= changed| rotated)|:|=)"
            rf"(?: now| (?:changed|rotated|set|reset) to)*) {_TOKEN}"
            rf"|(?i:^(?=.*\b(?:never|not|don't|circumstances)\b.*\b{_TELL}\b).*\b(?:the|our"
            rf"|my) (?:[\w-]+ ){{1,3}}{_SECRET}) {_TOKEN}"
            rf"|(?i:\b{_SECRET}\b.*\b{_TELL}) {_TOKEN}(?=.*\b(?i:previous|old|former) (?i:{_SECRET})\b)"
            r"|(?:密码|口令|访问码|门禁码).*(?:是|为|改为|换成) ?\S+"
        ),
        _words(
            rf"\b({_CODE_WORD}(?: {_CODE_WORD})?) (?:access[ -])?codes?\b"
            rf"|\b((?:{_CODE_WORD} ){{0,2}}(?:access[ -])?"
            r"(?:pass ?codes?|pass ?phrases?|passwords?|pin|word|key|token))\b"
            r"|口令|密码|访问码|门禁码"
        ),
    ),
    "database": _Subject(
        _words(
            r"\b(?:database|db|replica|cluster)\b.*\b(?:is|at|lives|moved|points?|now|runs|hosted|sits"
            r"|to)\b.* (?:(?-i:[A-Z])\w+|\S*\d\S*|\w+-\w+)"
        ),
        _words(
            rf"\b(?:{_ENV})\b|\b(?:name|host|port|backup|version|password)\b|(?P<place>\b(?:lives|moved|hosted"
            rf"|runs|sits|is)(?: now)? (?:in|to) (?:eu|us|ap|europe|asia)\b)"
        ),
        else_=_words(rf"\b{_NO_SCOPE}([a-z][\w-]*) (?:database|db|cluster|replica)\b"),
    ),
    "region": _Subject(
        _words(r"\b(?:region|data ?cent(?:er|re)|zone)\b.*(?:\b(?:is|now|to|moved)\b|:).*\w+-\w+"),
        _words(rf"\b(?:{_ENV}|databases?|storage|clusters?|cdn|backups?)\b"),
        else_=_words(rf"\b{_NO_SCOPE}([a-z][\w-]*) (?:deployment |hosting )?(?:region|data ?cent(?:er|re)|zone)\b"),
    ),
}
_ABOUT_IT = _words(
    r"\b(?:never|not|don'?t|cannot|can'?t|under no circumstances)(?: be)? (?:exceed|overspend|spend"
    rf"|go (?:over|above)|let [\w ]{{2,40}} (?:pass|exceed)|plan past|{_TELL})\b|\b(?:nobody|no one) else\b"
    r"|(?:不要|不得|禁止|切勿|严禁|绝不能?)(?:超过|超支|泄露|透露|告诉)"
)
"""Prohibitions that are part of the value: "never exceed $500", "never reveal 4711"."""
FORBIDDING = _words(
    r"\b(?:never|do not|don'?t|must not|may not|mustn'?t|nobody|no one"
    r"|must (?:stay|remain) (?!under|below|within|at\b)|cannot|can'?t|avoid|refrain"
    r"|forbidden|prohibited|off[- ]limits|not allowed|under no circumstances|and without)\b"
    r"|不要|不得|不准|禁止|切勿|严禁|绝不|不能|别"
)
"""Says that something must not be."""
_ORDER = _words(
    rf"[.;!]\s+(?:please |always |also |then )*(?!use it\b){VERB}\b|,\s+(?:and |but )?(?:always|ask)\b"
    r"|[。；，]\s*(?:请|必须|务必|先)"
)
"""A second sentence that is an order."""


def subjects(said: str) -> dict[str, frozenset[str]]:
    """Subjects of which a sentence states the value, each with the words that name its scope, in lower case.

    What forbids or orders something else beside states none: it is never replaced for its value. Only what is labelled
    as a state of the work is: what it forbids beside goes for that state.
    """
    found: dict[str, frozenset[str]] = {}
    rest = "" if re.match(_STATE, said, re.IGNORECASE) else _ABOUT_IT.sub("", said)
    if FORBIDDING.search(rest) or _ORDER.search(rest):
        return found
    for name, row in _TABLE.items():
        if row.says.search(said):
            rest = row.masked.sub(" ", said) if row.masked else said
            scopes = [*row.scopes.finditer(rest)] or [*(row.else_.finditer(rest) if row.else_ else ())]
            if row.alone and not scopes and not row.alone.search(said):
                continue
            found[name] = frozenset(_scope(scope) for scope in scopes)
    return found


def _scope(found: re.Match[str]) -> str:
    """A word without its plural, a phrase without what says since when."""
    if found.lastgroup:
        return found.lastgroup
    said = re.sub(
        r"\b(?:from now on|going forward|now|the|our|this|a|an|all)\b", "", found[found.lastindex or 0].lower()
    )
    said = " ".join(word.removesuffix("s") if len(word) > 4 else word for word in said.split())
    return _SAME.get(said, said)
