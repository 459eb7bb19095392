"""The English stemmer of Snowball without those of the other languages, which cost a tenth of a second at each start.

The package's own `__init__` imports all of them, so its folder is opened here as a package of another name. The pure Python stemmer
is taken even where the C one is installed: an index must not depend on what else is.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from typing import Protocol, cast

_PACKAGE = "_eunoe_snowball"


class Stemmer(Protocol):
    """A stemmer keeps the word it works on in itself: one per thread."""

    def stemWord(self, word: str) -> str:  # noqa: N802 - Snowball's name
        """The stem of a lower-case word."""
        ...


def english_stemmer() -> Stemmer:
    """A new one. Raises `ModuleNotFoundError` when snowballstemmer is not installed."""
    if _PACKAGE not in sys.modules:
        found = find_spec("snowballstemmer")
        if found is None:
            raise ModuleNotFoundError("snowballstemmer", name="snowballstemmer")
        spec = ModuleSpec(_PACKAGE, None, is_package=True)
        spec.submodule_search_locations = found.submodule_search_locations
        sys.modules.setdefault(_PACKAGE, module_from_spec(spec))
    return cast("Stemmer", import_module(f"{_PACKAGE}.english_stemmer").EnglishStemmer())
