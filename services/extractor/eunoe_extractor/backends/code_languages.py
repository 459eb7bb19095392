"""Names of programming languages and the shape of the line that begins a definition in each."""

from __future__ import annotations

import re

LANGUAGES = {
    "py": "python", "js": "javascript", "jsx": "javascript", "ts": "typescript", "tsx": "typescript", "java": "java", "go": "go",
    "rs": "rust", "c": "c", "h": "c", "cpp": "cpp", "hpp": "cpp", "cs": "csharp", "rb": "ruby", "php": "php", "sh": "bash",
    "swift": "swift", "kt": "kotlin", "scala": "scala", "lua": "lua", "sql": "sql", "r": "r", "pl": "perl",
}  # fmt: skip
SHEBANGS = {"python": "python", "node": "javascript", "ruby": "ruby", "perl": "perl", "php": "php", "sh": "bash"}

WORDS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|sealed|open|override|async|inline|virtual|const|"
    r"unsafe|partial|data|case|pub(?:\([\w: ]+\))?|local|extern(?:\s+\"\w+\")?)\s+)*"
)
TYPES = r"class|interface|enum|struct|trait|impl|union|namespace|module|object|record|protocol|extension|type|mod"
C_LIKE = re.compile(
    rf"\s*{WORDS}(?:"
    rf"(?:{TYPES})\s+(?:<[^>]*>\s*)?([\w$.:]+)"
    r"|(?:fn|func|fun|function\*?|def)\s+(?:\([^)]*\)\s*)?([\w$]+)"
    r"|(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?(?:\([^)]*\)|[\w$]+)\s*=>"
    r"|(?!(?:if|for|while|switch|return|else|catch|do|new|throw|await|yield|case)\b)"
    r"(?:[\w$:<>,\[\]*&?.]+\s+)*[*&]*([\w$:~]+)\s*\([^;{}]*\)\s*"
    r"(?:const|override|noexcept|throws[\w\s,.]*|->\s*[\w:<>&*]+|:\s*[\w<>\[\]|. ]+)?\s*\{?\s*$"
    r")"
)
DEFINITION = {
    "": C_LIKE,
    "python": re.compile(r"\s*(?:async\s+)?(?:def|class)\s+(\w+)"),
    "ruby": re.compile(r"\s*(?:def|class|module)\s+([\w.:?!=]+)"),
    "bash": re.compile(r"\s*(?:function\s+([\w:-]+)|([\w:-]+)\s*\(\)\s*\{?)"),
    "sql": re.compile(r"\s*(?:create|alter|drop|insert|select|update|delete|with)\b\s*(?:or\s+replace\s+)?([\w ]{0,60})", re.IGNORECASE),
    "lua": re.compile(r"\s*(?:local\s+)?function\s+([\w.:]+)"),
    "perl": re.compile(r"\s*(?:sub|package)\s+([\w:]+)"),
    "r": re.compile(r"\s*([\w.]+)\s*(?:<-|=)\s*function\b"),
}
