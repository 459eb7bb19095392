"""English words that carry no topic, question words among them.

Dropping question words moves recall in conversations more than the embedding model does. Forms with an apostrophe are
listed without it (`dont`), because the tokeniser joins them before it looks here.
"""

from __future__ import annotations

_ARTICLES = "a an the this that these those such same other another each every either neither both all any some own"
_PRONOUNS = """
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it
its itself they them their theirs themselves someone somebody something anyone anybody anything everyone everybody
everything nobody nothing none
"""
_QUESTIONS = "what when who whom whose which where why how whatever whenever whoever whichever wherever however"
_VERBS = """
am is are was were be been being do does did doing done have has had having can could shall should will would may might must
ought let lets get gets got getting
"""
_PREPOSITIONS = """
about above across after against along among around as at before behind below beneath beside besides between beyond by
down during except for from in inside into near of off on onto out outside over past per since than through throughout to
toward towards under until up upon via with within without
"""
_CONJUNCTIONS = "and but or nor so yet if because while although though unless whereas whether then else"
_ADVERBS = """
again also already always almost anyway ever even further here there hence just more most much many less least few no not
now never often once only perhaps quite rather really still thus too very well yes ok okay please
"""
_CONTRACTIONS = """
im ive id ill youre youve youd youll hes hed hell shes shed shell itd itll weve wed theyre theyve theyd theyll
thats thatll thatd theres therell heres whats whatre whatll whens whos whod wholl whove wheres whys hows
isnt arent wasnt werent dont doesnt didnt havent hasnt hadnt cant cannot couldnt shouldnt wont wouldnt mightnt mustnt neednt
aint yall gonna wanna
"""
_AMBIGUOUS = frozenset({"id", "ill", "hell", "shed", "shell", "wed"})
"""Contractions that are words of their own when written without the apostrophe."""

CONTRACTIONS = frozenset(_CONTRACTIONS.split())
"""Joined forms that are dropped when the text had an apostrophe (`I'll`, `we're`)."""

STOP_WORDS = (
    frozenset(f"{_ARTICLES} {_PRONOUNS} {_QUESTIONS} {_VERBS} {_PREPOSITIONS} {_CONJUNCTIONS} {_ADVERBS} {_CONTRACTIONS}".split())
    - _AMBIGUOUS
)
"""Words that are dropped wherever they stand."""
