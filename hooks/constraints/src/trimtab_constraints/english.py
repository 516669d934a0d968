"""English standing instructions: one pattern a kind, over a sentence in lower case without its opening words."""

from __future__ import annotations

import re

from trimtab_constraints.stories import STANDING
from trimtab_constraints.words import AMOUNT, DATE, FORMAT, VERB, any_of

__all__ = ["KINDS"]

_AT = r"(?:^|[,;:(]\s*|\s[-–—]+\s*|\b(?:and|but|so|also|then|please|just|or|kindly)\s+)"
"""Where a clause may begin."""
_WHO = r"(?:you|we|i|agents?|nobody|no[ -]?one|none of (?:you|us)|everyone|everybody|anyone|one)"
_EASY = (
    r"(?:know|think|understand|see|get|have (?:a|any|the|to)|need|want|like|care|believe|worry|mind|find|feel"
    r"|hesitate|forget|seem"
    r"|work|you|we|i|it|they|bother|panic|be (?:sorry|afraid|shy)|ask me (?:why|how)|even|really|actually|recall"
    r"|notice|exist|matter)"
)
_DEEDS = (
    r"(?:accept|add|allow|approve|bill|book|break|bypass|call|change|charge|commit|contact|copy|delete|deploy"
    r"|disclose|discuss|edit|email"
    r"|expose|force|give|hardcode|ignore|log|merge|mention|mock|modify|negotiate|offer|order|pay|post|print"
    r"|promise|publish|push|quote|read|release"
    r"|reuse|reveal|rewrite|run|sell|send|share|ship|skip|spend|store|touch|track|trust|upload|use|write)"
)
_SAYING = (
    r"(?:says?|said|saying|states?|means?|claims?|assumes?|checks?|ensures?|asserts?|validates?|verif(?:y|ies)"
    r"|rejects?|tests?|implies"
    r"|thinks?|thought|expects?|because|since|which|why|where|whether|error|exception|returns?|complains?|warns?)"
)
_EVENT = (
    r"(?:releases?|commits?|merges?|push(?:es)?|deploy(?:ment)?s?|changes?|fix(?:es)?|bug ?fix(?:es)?|pull requests?"
    r"|prs?|edits?|migrations?|refactorings?|features?)"
)
_ANY = r"(?:all|every|each|any)"
_OUTPUT = (
    r"(?:repl(?:y|ies)|answers?|responses?|messages?|mails?|emails?|reports?|summar(?:y|ies)|times?|timestamps?"
    r"|dates?|clocks?|amounts?|prices?|numbers?"
    r"|distances?|temperatures?|weights?|measurements?|units?|figures|values|currenc(?:y|ies)|commits?"
    r"|commit messages?|comments?|docs|documentation"
    r"|docstrings?|output|code|names?|headings?|titles?|paragraphs?|sentences?|explanations?|lists?|subject lines?"
    r"|tone|language|spelling|indentation)"
)
_SUBJECT = (
    rf"^(?!(?:this|that|it|he|she|they|there|these|those|i|what|if|when|as|since|because|in|on|at|for|add|make"
    rf"|write)\b)(?!.*\b{_SAYING}\b)[\w'$£€□ /.,-]{{2,70}}?"
)

KINDS: dict[str, re.Pattern[str]] = {
    "permission": any_of(
        r"\byou may (?:now |also |freely |always |only )?(?!(?:see|notice|need|want|wish|have|get|find|be|run into"
        r"|encounter|also|recall|know|remember|think|not|never|as well)\b)[a-z]",
        r"\b(?:you(?:'re| are)|i am|we are|\w+ (?:is|are)) (?:now |also |only |hereby |explicitly )?(?:allowed"
        r"|permitted|authori[sz]ed|cleared|entitled|free|welcome) to\b",
        r"^only [\w' -]{2,50}? (?:may|can|must|should) (?!be (?:seen|found|reproduced)\b)[a-z]|\bmay .*\b(?:but"
        r"|and) nothing else\b",
        r"^(?:only|just) [\w' -]{2,50}? (?:may|can|is|are|should|must|has|have|gets?|approves?"
        r"|signs?)\b(?=.*\b(?:approv|sign|merge|deploy|open|access|read|write|allowed|authori|permitted|permission"
        r"|decide|grant|publish|release|push|edit|change|pay|book|order|talk|contact|may|clearance|key)\w*)",
        r"\b(?:permitted|allowed|ok|okay|fine) only (?:with|when|if|after|by|for|in)\b",
        r"\b(?:has|have|had been given|give you|grant(?:ed)?|with) (?:standing |full |my |explicit )?(?:permission"
        r"|authority|clearance) (?:to|for)\b",
        r"^(?:it'?s|it is|that'?s) (?:always |perfectly |totally )?(?:ok|okay|fine|alright|acceptable"
        r"|allowed) (?:to|for you to|if you|when you|without) (?!(?:me|see|leave it)\b)",
        r"\byou (?:don'?t|do not|needn'?t|never) (?:need|have)? ?(?:to )?(?:ask|check with|get|wait for"
        r"|seek)\b(?=.*\b(?:before|for|when|to|first|approval|permission|confirmation)\b)",
        r"^only i (?:may |can )?(?:merge|deploy|release|push|approve|publish|sign|decide|tag)\b",
        r"^you can\b.*\bwithout (?:asking|approval|permission|checking with|my (?:ok|approval|consent|permission))\b",
        r"^(?:feel free|go ahead and|no need) to (?:ask|skip|use|restart|install|merge|push|deploy|delete|spend"
        r"|book|order)\b",
    ),
    "prohibition": any_of(
        rf"{_AT}(?:never(?:,? ever)?|do not(?: ever)?|don'?t(?: ever)?|do never),? (?!{_EASY}\b)(?!(?!need|feed"
        rf"|embed|speed|exceed|proceed|shed|seed)\w+ed\b)[a-z]",
        rf"\b{_WHO} (?:must|should|shall|may|are to|will|need to|ought) (?:not|never)\b|\b{_WHO} (?:mustn'?t"
        rf"|shouldn'?t|shall not)\b",
        r"\b(?:nobody|no[ -]?one|none of (?:you|us)|nothing)(?: but \w+| except [\w ]+| else| (?:in|under|inside"
        r"|below) \S+)? (?:may|must|should"
        r"|shall|can|gets?|is (?:allowed|permitted|to)|goes|leaves|touches|merges|deploys)\b",
        r"^(?:nobody|no[ -]?one)\b[\w' -]{0,40} (?:may|must|should|shall|is to|is allowed)\b",
        rf"^(?:we|you|i) (?:don'?t|do not|never) {_DEEDS}\b",
        rf"{_SUBJECT} (?:must|may|shall|is to|are to)(?: not| never)(?: ever)? (?!be (?:a|an|the) (?:bug"
        rf"|problem)|have (?:been|run|gone|had|\w+ed|\w+en)\b)[a-z]",
        rf"{_SUBJECT} (?:should|can) not be \w+\b.*\b(?:yet|for now)\b",
        rf"{_SUBJECT} (?:is|are|remains?|stays?) (?:strictly |absolutely |completely |still )?(?:forbidden"
        rf"|prohibited|off[- ]limits|banned|not (?:allowed|permitted|acceptable|to be)|disallowed|out of bounds"
        rf"|taboo|confidential|classified|read-only|untouchable)\b",
        r"^(?:it is|it'?s|you are|you'?re) (?:strictly |absolutely |never )?(?:forbidden|prohibited|not (?:allowed"
        r"|permitted|to)|never (?:allowed|ok|okay|to))\b",
        r"\b(?:under no (?:circumstances?|conditions?)|on no account|in no case|at no (?:time|point)|by no means"
        r"|not under any circumstances?)\b",
        rf"{_AT}(?:stay|keep) (?:away from|out of) (?:the|my|our|this|that)\b",
        rf"{_AT}(?:avoid|refrain from|stay away from|stay out of|keep (?:away|off|out|clear)(?: of| from)?"
        rf"|steer clear of|quit|stop) (?:\w+ing\b|any\b|all\b|force|[\w-]+s\b)",
        r"^no (?!(?:other|such|errors?|warnings?|output|luck|difference|problems?)\b)(?:more |new |further "
        r"|additional )?[\w/-]+(?: [\w/-]+){0,6}?,? (?:without"
        r"|unless|until|before|after|on|during|outside|whatsoever|ever|allowed|at all|anywhere|for (?:now|any)"
        r"|in (?:the|any|our|this|production|code|repl))\b",
        r"^no (?:\w+ ){0,2}[a-z]{3,}s(?: please)?[.!]*$|^no [\w /-]{3,60},? please[.!]*$",
        r"\b(?:keep|leave) [\w' -]{2,50} (?:secret|confidential|private|untouched|unchanged|alone|as (?:it"
        r"|they) (?:is|are)|to yourself|intact|offline)\b",
        r"\bi (?:don'?t|do not|never) want (?:you to|any|anyone|anybody|to (?:see|hear|get|find)|the (?:agent"
        r"|team))\b|\b(?:hands off|must be kept (?:secret|private|confidential))\b",
    ),
    "conditional": any_of(
        r"^(?:if|when|in case) (?!you (?:finish|are done|'re done))[^,]+, .*\b(?:call|tell|ask|warn|notify|page|inform)"
        r" (?:me|us)\b(?! (?:the|why|how|what)\b)",
        r"^(?:if|when|whenever|in case|should|as soon as|once|where|any time|anytime|every time"
        r"|each time) [^,]{3,140}(?:,| then) (?:then |please |you (?:must|should|are to) |always |immediately "
        r"|just |first )*(?:stop|escalate|refuse|decline|ask (?:me|for|the|us|before|first|a)|notify|never|always"
        r"|do not|don'?t|alert|abort|pause|hand|tell (?:me|us|them|him|her)|contact|call (?:me|the|for)|page|route"
        r"|forward|reject|halt|flag|warn|report|wait|double-check|confirm|inform|defer|transfer|roll back|revert"
        r"|say so|refer (?:them|him|her|to)|treat)\b",
        r"^(?:whenever|anytime|(?:(?:after|before|with|for|on) )?(?:every|each"
        r"|any) \w+)\b[^,]{0,80}, (?:please |you (?:must|should|are to) |always |also |first )*(?!(?:it|i|there"
        r"|he|she|they|my|our|we|the|this|that|these|an?|some|all|nothing|everything|one|your"
        r"|then)\b)(?!\w+s\b)[a-z]{2,}\b",
        r"^(?:when in doubt|if (?:in doubt|unsure|uncertain)|if you(?:'re| are) (?:unsure|uncertain|not sure"
        r"|in doubt))\b",
        r"^(?:stop|escalate|refuse|decline|ask me|notify|alert|abort|pause|page|call|tell me|halt"
        r"|warn me)\b.*\b(?:if|when|whenever|as soon as|in case) (?:a|an|any|you|someone|anyone|the|there|it)\b",
    ),
    "precondition": any_of(
        r"\bbefore (?:you|we|anyone|anybody) (?:ever )?(?!\w+ (?:this|that|it|them|these)\b)\w+.*\b(?:must|ask|get"
        r"|run|check|confirm|wait|tell|show|need|should|have|make|verify|obtain|notify|read|review|first|create"
        r"|back|take|always|let|send|do)\b",
        rf"^(?:always )?before (?:\w+ing|any|each|every)\b(?! (?:this|that|it)\b).{{2,80}}?,? (?:please "
        rf"|you (?:must|should) |always |first )*{VERB}\b",
        r"^(?:please |always )*(?:ask|check with|consult|notify|tell|confirm with|get|obtain|wait for|run|warn"
        r"|inform|seek|request|show me|verify|back up|clear|double-check)\b.*\bbefore (?:you|we|\w+ing|any|every"
        r"|each)\b(?! (?:this|that|it)\b)",
        r"\b(?:unless|except when|except if) (?:i|we|you|told|explicitly|otherwise|the|an?|[a-z]+) .*?\b(?:says?"
        r"|said|tell|told|ask|asked|approv\w+|confirm\w*|explicit\w*|instructed|sign\w*|agree\w*|permission"
        r"|requests?|allow\w*|specif\w+|state\w*|authori\w+)\b|\bunless (?:told|instructed|specified|stated|noted"
        r"|approved) ",
        rf"(?:{_AT}(?:do|{VERB[3:-1]}|nothing|no|don'?t)\b|\b(?:must|may|stays?"
        rf"|remains?)\b).*\buntil (?:after )?(?:[\w' -]{{2,50}}?) (?:reviews?|reviewed|approves?|approved|signs?"
        rf"|signed|confirms?|confirmed|clears?|cleared|says?|agrees?|has|have|is|are|gives?|verifies|accepts?"
        rf"|green-?lights?|completes?|passes|lands)\b",
        r"\b(?:without|needs?|requires?|require|only with|subject to|pending|after) (?:my|our|the|an?|prior"
        r"|explicit|written|verbal|express|formal|\w+'s|his|her|their|manager|legal"
        r"|approval)(?: [\w-]+){0,4}? ?\b(?:approval|permission|consent|sign-?off|confirmation|authori[sz]ation"
        r"|review|ok|go-?ahead|blessing|clearance)s?\b",
        r"\b(?:needs?|requires?) (?:approval|sign-?off|confirmation|authori[sz]ation|permission"
        r"|consent|a second (?:pair|reviewer|opinion)|two (?:reviewers|approvals|signatures))\b"
        r"|\bonly then\b|\bonly (?:after|once|when|if) .*\b(?:may"
        r"|can|should|must|is|has|have|approved|confirmed|signed)\b",
        r"\b(?:important|crucial|essential|vital|critical|mandatory)(?:ly)?,? (?:not to|to never|to always"
        r"|that you (?:never|always|do not|don'?t))\b",
        r"^(?:hold|block|freeze|wait with|postpone|keep) .*\buntil\b|\bask (?:me )?(?:first )?(?:for permission "
        r"|for confirmation )?(?:before|first)\b",
    ),
    "cap": any_of(
        rf"{_AT}(?:always |only )?(?:{VERB[3:-1]}|spend|stay|remain|don'?t go|never go|hold|allow|fetch|retry"
        rf"|allocate|pay|consume|load|poll)\b[^.;]*?\b(?:at most|no more than|not more than|up to"
        rf"|(?:a )?max(?:imum)?(?: of)?|under|below|less than|fewer than|within|not exceed(?:ing)?|over|above"
        rf"|beyond) (?:a total of |about |an? |(?:a )?max(?:imum)? of )?{AMOUNT}(?!(?:\.\d|:\d))(?=.*(?:[$€£¥%]"
        rf"|\b(?:dollars?|bucks|euros?|eur|usd|tokens?|words?|lines?|characters?|sentences?|paragraphs?|minutes?"
        rf"|hours?|seconds?|requests?|calls?|retries|attempts?|results?|files?|pages?|items?|process(?:es)?"
        rf"|threads?|people|per|workers?|bullets?|points?|mb|gb|kb|columns?|changes|pull requests|degrees|searches"
        rf"|nights|grams|budget|spend\w*|each|total)\b))",
        rf"^(?:limit|cap|restrict|hold|keep) .*\bto {AMOUNT}|^(?:max(?:imum)?|min(?:imum)?) [\w -]{{3,30}} (?:is"
        rf"|:) {AMOUNT}",
        rf"^(?:at most|no more than|not more than|up to|a maximum of|max(?:imum)?|fewer than) {AMOUNT} .*\b(?:per"
        rf"|each|a|at|in|for|on|total|please|allowed|any|every)\b",
        rf"\b(?:must|may|should|shall|can)\b[^.;]*{AMOUNT} \w+ (?:at most|maximum|max|tops|or less|or fewer)\b",
        rf"\b(?:cap|ceiling|upper (?:limit|bound)|(?:word|hard|time|size|token|daily|monthly|rate) limit|quota"
        rf"|allowance) (?:\w+ ){{0,5}}?(?:is|of|at|stands at|:) {AMOUNT}|\b(?:budget"
        rf"|spend\w*|costs?|expenses?|fees?|prices?|purchases?|each|every|all|your|must|should)\b.*\b(?:capped"
        rf"|limited) (?:at|to) {AMOUNT}|\b(?:ceiling|cap|limit) for .*{AMOUNT}",
        rf"{_SUBJECT} (?:must|should|may|shall|has to|have to|can|needs? to|are to|is to)(?: never| not"
        rf"| always)? (?:be |stay |remain |have |take |cost |exceed |contain |go |run |last |use |fit "
        rf"|include )*(?:at most|no more than|not more than|up to|under|below|less than|fewer than|within|above"
        rf"|over|longer than|more than|shorter than)? ?{AMOUNT}(?=.*\b(?:words?|lines?|minutes?|hours?|seconds?"
        rf"|dollars?|euros?|tokens?|characters?|pages?|per|people|percent|mb|gb|kb|requests|sentences)\b|.*[$€£¥%])",
    ),
    "deadline": any_of(
        rf"\b(?:must|has to|have to|needs? to|should be|is to|are to)\b.*\b(?:by|before|until|no later than) {DATE}"
        rf"|\b(?:closes?|expires?|ends|starts|opens|begins|takes place|is scheduled for|lands)(?: on| at"
        rf"| by)? {DATE}",
        rf"\b(?:has been |was |is |been )?(?:moved|pushed back|pushed|postponed|rescheduled|brought forward"
        rf"|delayed) to {DATE}\W*$",
        rf"\b(?:due|expected) (?:on |by |before |at )?{DATE}|\b(?:no|not) later than {DATE}|{DATE} at the latest\b",
    ),
    "format": any_of(
        rf"^(?:always |only |generally )*(?:answer|reply|respond|speak|talk|communicate)\b(?! to (?:the|this"
        rf"|that)\b).*\b(?:in|with|as|using|without|under|within|like) (?:\w+ ){{0,3}}?(?:{FORMAT})",
        rf"^(?:always |only )*(?:report|express|give|show|format|state|quote|present|display|print|render|list"
        rf"|measure|write|round|keep|put|stamp|spell|use|make|phrase|sign|return|convert)\b(?! (?:this|that|it"
        rf"|them|me|the|these|those|some|an?)\b).*?\b{_OUTPUT}\b.*\b(?:in|as|with|using|to|by|at|short|brief|terse"
        rf"|concise|light|playful|formal|simple|polite|informal)\b",
        rf"^(?:always |only )*(?:use|prefer|stick (?:to|with)|adopt|write|apply)\b (?!(?:the|this|that"
        rf"|it)\b)(?:\w+[ -]){{0,5}}?(?:{FORMAT})\b(?=.*\b(?:for|in|everywhere|throughout|only|please"
        rf"|measurements?|units?|spelling|indentation|times?|names|all|any)\b|[ \w]*[.!]?$)(?!.*\b(?:here"
        rf"|instead of the)\b)",
        rf"^(?:label|tag|name) {_ANY} |^in (?:{_ANY}|your) {_OUTPUT}[\w ,]*?, (?:please )?{VERB}\b",
        rf"^(?:your|{_ANY}|our)(?: future| written| final| status)* {_OUTPUT}(?: messages?| lines?)? (?:should"
        rf"|must|need to|have to|are to|is to|has to|will|starts?|begins?|ends?|shall|goes|go|gets?|carr(?:y|ies)"
        rf"|includes?|uses?)\b|^(?:repl(?:y|ies)|answers?|responses?|messages|reports|dates|times|timestamps"
        rf"|prices|amounts|summaries|commit messages|commits|emails?|mails|subject lines|status reports"
        rf"|temperatures|distances) (?:should|must|need to|have to|are to|shall) (?!be (?:able|possible)\b)",
        rf"^(?:write|format|spell|render|show|display|print|quote|report|state|give|express|put|keep|list"
        rf"|prefix) (?!(?:this|that|it|them|me|the|these|those|some|an?|us)\b)[\w ]+?s(?: \w+)? (?:in|as|with"
        rf"|without|excluding|including|using) \w|^{_ANY} [\w ]{{3,40}} (?:in|as|with"
        rf"|without) (?:\w+ ){{0,2}}{FORMAT}",
        r"^(?!(?:this|that|it|he|she|the|they)\b)[\w' -]{3,50} (?:should|must|have to|need to"
        r"|has to) be (?:written|given|shown|formatted|spelled|expressed|reported|quoted|displayed|stated|signed"
        r"|numbered|prefixed|labell?ed)\b",
        r"^(?:give|show|tell|quote|send) me (?:all )?(?!th(?:is|ese|ose)\b)\w+s in \w|^use (?:the )?(?:24"
        r"|12)[- ]hour|^use (?:the )?(?:british|american|metric|imperial)\b",
        r"^(?:address|greet|treat|refer to) (?:customers|clients|users|me|everyone|people|patients|guests|us)\b",
        r"^use (?!(?:the|this|that|it|an?|these|those)\b)[\w.-]+ (?:for|in|when|instead of) (?:all|any|every|each"
        r"|(?:[\w-]+ )?\w+s)\b(?!.*\b(?:here|now)\b)",
        rf"^(?:call|address) me \w|^(?:call|address|refer to) (?:the )?(?:\w+ ){{1,3}}as \w|\b(?:sign|end|begin"
        rf"|start|prefix) (?:{_ANY}|your) ",
        rf"^(?:all )?{_OUTPUT} (?:in|as|with|without) (?:(?!the|this|that)\w+ ){{0,2}}?{FORMAT}(?:,? (?:please"
        rf"|only))*[.!]*$"
        rf"|^(?!(?:these|those)\b)[\w' -]{{2,50}}s must (?:always )?be (?:in )?(?:valid )?{FORMAT}\b",
    ),
    "preference": any_of(
        r"\b(?:i|we|my \w+|our \w+|the (?:user|client|customer|boss|team))(?: really| strongly| generally| much"
        r"| always| usually| would|'d)* (?:prefers?|favou?rs?)\b(?! (?:option|#|\d|the (?:first|second|third|last"
        r"|latter|former|other|one)|this|that|your)\b)",
        r"\b(?:i|we)(?:'d| would)(?: much| really)? (?:rather|sooner) (?!not (?:guess|say)\b)|\bi(?:'d"
        r"| would) (?:prefer|like it (?:if|when)|appreciate it if) ",
        r"^(?:i|we)(?: want| expect| need|'d like| would like) (?!to\b).*\b(?:(?:before|for|with|after|on) (?:an?"
        rf"|any|all)|each|every) (?:[\w-]+ ){{0,2}}?{_EVENT}\b",
        r"\bthe (?:user|client|customer|traveller|traveler|patient|guest)s? (?:wants|likes|loves|hates|dislikes"
        r"|wishes|hopes|expects|insists|needs|avoids|enjoys|asks for)\b(?! (?:to|it)\b)",
        r"\b(?:my|our|the user'?s|the client'?s) (?:strong |personal |general )?(?:preferences?"
        r"|favou?rites?)(?: \w+)? (?:is|are|for)\b",
        r"^(?:i|we)(?: really| absolutely| truly| always| generally)? (?:love|hate|dislike|detest|like|enjoy"
        r"|loathe|can'?t stand|cannot stand|value|favou?r) (?!(?:it|that|this|the idea|the changes?|the new|your|to"
        r"|how|what"
        r"|these|them)\b)",
        r"\bi(?:'m| am) (?:allergic|vegetarian|vegan|colou?r-?blind|left-handed|lactose|diabetic|intolerant)\b"
        r"|\bi (?:don'?t|do not|never) (?:eat|drink|fly|drive|like|work on|take calls|travel)\b (?!(?:it|this|that"
        r"|how|the)\b)",
    ),
    "standing": any_of(
        STANDING.pattern,
        rf"(?:^|[,;:]\s*|\b(?:and|but|please|also|to|you should|you must|we|we should) )always (?!(?:be (?:a|the)"
        rf"|been|return|fail|happen|show|get|throw|crash)s?\b){VERB}\b",
        r"^always\b(?!\W+(?:\w+s|been|the)\b)",
        r"^(?:remember|keep in mind|bear in mind|don'?t forget|be aware|never forget)(?: that|:|,| to(?! (?:commit"
        r"|push|add|fix|update|run) (?:this|it|that)))?\s(?!.*\b(?:when we|last time)\b)",
        r"^(?:make sure|be sure|ensure)(?: to| that| you)*(?: to)? always\b|^(?:everything|everyone"
        r"|all (?:of )?(?:our|the|your) [\w ]{2,40}|(?:every|each) [\w -]{2,40}"
        r"|all (?!(?:of|these|those|the|three|two|my)\b)[\w -]{2,40}s(?! needs? (?:to be|an? fix|fix)))"
        r" (?:must|has to|have to|needs?(?: to)?|requires|goes through)\b",
        r",? remember (?:that|this)[.!]*$",
        rf"^{VERB}\b.*\b(?:every time|each time|whenever|after (?:each|every)|before (?:each|every)|with (?:each"
        rf"|every)) (?!(?:i|it)\b)",
    ),
    "change": any_of(
        r"\b[a-z]\w+ (?:now|currently) (?:owns|handles|runs|leads|covers|approves|reviews|carries|holds|manages"
        r"|maintains|takes|signs|is (?:on call|in charge|responsible|the (?:owner|approver|reviewer|lead"
        r"|contact)))\b|\b(?:now |has |been )?(?:taken over|takes over|took over|is taking over"
        r"|stepped in)\b (?=(?:as|for|from|the|our|all|\w+ (?:duty|approvals?|reviews?))\b)",
        r"\b(?:now belongs to|(?:has been|is|was) (?:handed|passed|reassigned|transferred|assigned) (?:over )?to"
        r"|is now (?:handled|owned|covered|run|led|approved|reviewed) by|(?:we are|we're|we now"
        r"|everyone is) (?:now )?call(?:ing)? (?:the|this|our)|goes by the name|has replaced \w+ as)\b",
        r"^\w+(?: \w+)? is (?:now |from now on )?(?:the|our) (?:new|acting|interim) (?!(?:problem|bug|issue"
        r"|version|error)\b)\w+|\bis now (?=\S*\d)[\w.:/-]+\W*$",
        r"^(?:the|our) (?!\w* ?(?:file|function|code|class|method|helper|module|test|button|variable|line|field"
        r"|header)s?\b)[\w -]{3,40} (?:has|have|has been|have been|is)(?: now)? (?:moved|migrated|relocated"
        r"|renamed|switched|changed) to \S+\W*$",
        r"\b(?:contact|lead|manager|owner|maintainer|representative|supervisor|boss|address|phone(?: number)?"
        r"|e?-?mail|endpoint|channel|venue|location|time ?zone|codename|deadline|budget|priority|goal|client"
        r"|customer|target)\b.* (?:is|are) (?:now|no longer|from now on)\b",
    ),
}
"""Kind to pattern, in the order in which they are tried."""
