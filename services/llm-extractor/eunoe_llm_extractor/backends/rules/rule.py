"""The rules: a pattern, what kind of memory a match is, how certain it is, and the tag it gets. The first that matches counts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from eunoe_contracts.content import Kind

from eunoe_llm_extractor.backends.rules.date import DATE

_I = (
    r"(?:^|[,;:\u2013\u2014-]\s*|\b(?:[Aa]nd|[Bb]ut|[Ss]o|[Bb]ecause|[Ss]ince|know|[Tt]hat|[Tt]hough|[Yy]es|[Yy]eah|[Ww]ell)\s+)(?:I|[Ww]e)"
)
"""The speaker at the start of a clause, so not `the people we love`."""

_OFTEN = r"(?:(?:really|also|usually|always|generally|personally|strongly|still|much|absolutely|just|do|definitely)\s+){0,2}"
_OBJECT = r"(?!to\W*$)(?!(?:it|that|this|them|those|these|you|him|her|how|what|when|where|why|the idea|the way|the sound)\b[^\w]*)"
_NOT = r"(?:don['\u2019]?t|do\s+not)"
_NAME = r"\b[A-Z][\w'\u2019-]+(?:\s[A-Z][\w'\u2019-]+){0,2}"
_SOMEBODY = rf"(?!(?:He|She|It|They|We|This|That|These|The|His|Her|Its|Their|In|On|At|After|Before|Since|When|While|Released)\b){_NAME}"
_ATTRIBUTE = (
    r"(?:birthday|anniversary|name|nickname|e-?mail(?:\s+address)?|phone(?:\s+number)?|address|job|title|role|age|hometown|birthplace"
    r"|manager|boss|wife|husband|partner|spouse|mother|father|sister|brother|son|daughter|dog|cat|pet|employer|time\s?zone|password\s+hint)"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` is searched in a sentence; its group `statement`, where there is one, is what is remembered."""

    name: str
    pattern: re.Pattern[str]
    kind: Kind
    confidence: float
    tag: str


def _rule(name: str, pattern: str, kind: Kind, confidence: float, tag: str, flags: re.RegexFlag = re.NOFLAG) -> Rule:
    return Rule(name, re.compile(pattern, flags), kind, confidence, tag)


RULES = (
    _rule(
        "task-label",
        r"^(?:TODO|FIXME|ACTION(?:\s+ITEM)?S?|TASK|FOLLOW[- ]UP|NEXT\s+STEP)\s*(?:\([^)]*\))?\s*[:\u2014-]\s*(?P<statement>.+)",
        Kind.TASK, 0.9, "task", re.IGNORECASE,
    ),
    _rule("task-box", r"^[-*+]\s+\[ \]\s+(?P<statement>.+)", Kind.TASK, 0.9, "task"),
    _rule(
        "task-remind",
        rf"\b(?:(?:please\s+)?remind\s+(?:me|us)\s+(?:to|about|that)|{_NOT}\s+forget\s+to|remember\s+to)\s+\w+",
        Kind.TASK, 0.85, "task", re.IGNORECASE,
    ),
    _rule(
        "task-deadline",
        r"\b(?:deadline\b[^.]{0,60}\b(?:is|was\s+moved|moved)\b|deadline\s*:|(?:is|are)\s+due\s+(?:on|by|in|next|this|tomorrow))\s*\w+",
        Kind.TASK, 0.8, "deadline", re.IGNORECASE,
    ),
    _rule(
        "explicit",
        rf"^(?:please\s+)?(?:remember|note|keep\s+in\s+mind|bear\s+in\s+mind|{_NOT}\s+forget)\s*(?:that\b|:)\s*(?P<statement>.+)",
        Kind.FACT, 0.9, "explicit", re.IGNORECASE,
    ),
    _rule("decision", r"^(?:decision|decided|resolution|outcome)\s*:\s*\w+", Kind.FACT, 0.85, "decision", re.IGNORECASE),
    _rule(
        "decided",
        r"\b(?:we|the\s+\w+|they|I|it\s+was|team)\s+(?:(?:have|has|had|finally|also|then)\s+){0,2}"
        r"(?:decided|agreed|resolved|chose|opted)\s+(?:to|that|on|against|for)\s+\w+",
        Kind.FACT, 0.85, "decision", re.IGNORECASE,
    ),
    _rule(
        "favourite",
        rf"(?:\b[Mm]y|\b[Oo]ur|{_NAME}['\u2019]s)\s+(?:all-time\s+)?favou?rite\s+[\w\s-]{{2,40}}\s+(?:is|are|was)\s+\w+",
        Kind.PREFERENCE, 0.9, "preference",
    ),
    _rule(
        "preference",
        rf"{_I}\s+{_OFTEN}(?:prefer|love|hate|dislike|enjoy|adore|detest|can['\u2019]?t\s+stand|{_NOT}\s+like)\s+{_OBJECT}\w+",
        Kind.PREFERENCE, 0.8, "preference",
    ),
    _rule("liking", rf"{_I}\s+{_OFTEN}like\s+{_OBJECT}\w+", Kind.PREFERENCE, 0.75, "preference"),
    _rule(
        "others-preference",
        rf"^{_NAME}\s+{_OFTEN}(?:prefers|likes|loves|hates|dislikes|enjoys|(?:doesn['\u2019]?t|does\s+not)\s+like)\s+{_OBJECT}\w+",
        Kind.PREFERENCE, 0.75, "preference",
    ),
    _rule(
        "attribute",
        rf"(?:\b[Mm]y|\b[Oo]ur|{_NAME}['\u2019]s)\s+(?:\w+\s+)?{_ATTRIBUTE}\s+(?:is|was|are)\s+[\w\"\u201c+]",
        Kind.FACT, 0.85, "identity",
    ),
    _rule(
        "identity",
        r"\bI(?:\s+am|['\u2019]m)\s+(?:(?:an?|the)\s+[\w-]+|allergic\s+to\s+\w+|from\s+[A-Z]\w+|\d+\s+years\s+old"
        r"|(?:vegetarian|vegan|married|single|retired)\b)",
        Kind.FACT, 0.75, "identity",
    ),
    _rule(
        "life",
        r"\bI\s+(?:live|work|study|grew\s+up|was\s+born|moved|graduated|volunteer)\s+(?:in|at|for|as|on|to|from|with)\s+\w+",
        Kind.FACT, 0.8, "identity",
    ),
    _rule(
        "possession",
        r"^(?:[Mm]y|[Oo]ur)\s+[\w-]+(?:\s+[\w-]+)?\s+(?:is|are)\s+(?:called|named|[A-Z\d])[\w-]*",
        Kind.FACT, 0.75, "identity",
    ),
    _rule(
        "dated",
        rf"^(?:(?:On|In|Since)\s+(?:{DATE.pattern}),?\s+{_SOMEBODY}|{_SOMEBODY}.*\b(?:on|in|from|until|since|by|of)\s+(?:{DATE.pattern}))",
        Kind.FACT, 0.6, "date",
    ),
)  # fmt: skip
