"""Small words: what opens, hedges and closes a statement, and what cannot stand for itself.

Every list is plain lower-case words. Add a word here when a statement is refused or accepted wrongly because of it.
"""

from recollect.rules.language.calendar import MONTHS, WEEKDAYS
from recollect.rules.word_lists import entries, word_set

FILLER_SENTENCES = entries(
    """thanks|thank you|thank you very much|hi|hello|hey|ok|okay|yes|yeah|sure|great|good morning|good evening
    hi there|hello there|got it|note|noted|fyi|by the way|btw|please|right|cool|understood|correction|update"""
)
"""Whole sentences that add nothing to the statement beside them."""

OPENINGS = entries(
    """please note that|note that|please remember that|please remember|remember that|remember(?! (?:not )?to )
    keep in mind that|for your information|for the record|just so you know|by the way|in general|from now on
    going forward|as of today|as of now|the rule is that|fyi|btw|actually|again|also|and|okay|ok|yes|yeah|thanks
    hello|hi|hey|please"""
)
"""Ways to begin that leave the statement unchanged."""

LABELS = entries(
    """important|correction|reminder|update|note to self|note|new rule|rule|decision|fact|for later|save this|well|so"""
)
"""Ways to begin that need a comma or a colon after them."""

CLOSINGS = entries(
    """please|thanks|thank you|from now on|going forward|as of today|as of now|at the moment|these days|any longer
    any more|anymore|nowadays|at all|again|right now|now|ever|too|as well"""
)
"""Ways to end that leave the statement unchanged."""

NOTED_VERBS = entries(
    """prefers|likes|dislikes|loves|hates|enjoys|lives|works|uses|speaks|drinks|eats|plays|has|owns|knows|moved|relocated
    does not"""
)
NOTED_STATES = entries(
    "based in|living in|working at|working for|working as|allergic to|fluent in|married to|learning|studying"
)
NOTED_NOUNS = entries(
    """name|full name|first name|last name|surname|age|birthday|hometown|pronouns|email|phone number|time zone|timezone
    native language|mother tongue|job title|employer|favorite|favourite|preferred"""
)
"""How notes about the user begin that leave the user out: "Prefers dark mode", "Based in Porto", "Name is Ana"."""

ADVERBS = entries(
    """now|currently|presently|really|truly|absolutely|definitely|actually|officially|recently|always|still|also|just
    simply|ever"""
)
"""Adverbs that colour a statement but don't change what it is about."""

UNCERTAIN = word_set(
    """if unless whether maybe perhaps possibly probably presumably supposedly apparently allegedly might could would
    may think thinks thought guess guesses suppose believe believes assume reckon wonder wondering seems seem appears
    hope hopes hopefully hoping wish wishes wishing doubt expect expects consider considering imagine pretend someday
    eventually almost nearly about roughly around approximately likely unlikely sometimes occasionally often usually
    rarely normally mostly typically generally when whenever while until till once because although though but
    however otherwise except and or nor either neither both then
    will shall gonna wanna going planning plan plans planned intend intends try trying tries tried want wants wanted
    said says say saying told tell tells asked heard mentioned claims claimed according
    used formerly previously originally initially yesterday tomorrow tonight ago
    why what where how who whom whose which
    did was were had been went got came"""
)
"""A statement with one of these is a hedge, a report, a plan, a question, a story, or more than one statement.

Rules that read one of these words on purpose ("was moved to", "I want no ...") name it in ``allows``.
"""

NOT_SELF_CONTAINED = word_set(
    """he him his she her hers it its they them their theirs this that these those you your yours one ones another
    someone somebody anyone anybody everyone everybody nobody none something anything everything nothing here there
    who whoever which what whatever each every any all both some many most several few other others such same people
    folks guys things stuff everywhere myself yourself himself herself itself ourselves themselves
    yourselves"""
)
"""Words that point at something outside the sentence, or at no one in particular."""

NEVER_NAMES = NOT_SELF_CONTAINED.union(WEEKDAYS, MONTHS) | word_set(
    """i me my mine we us our ours a an the no not yes let lets let's today tomorrow yesterday tonight now later back
    soon never always is are am be mom dad god christmas easter"""
)
"""Capitalised or not, these don't name a person or a thing."""

VAGUE_VALUES = word_set(
    """great good bad fine okay ok nice cool awesome amazing wonderful fantastic terrible awful broken down up slow fast
    busy free open closed full empty wrong right correct incorrect outdated old new ready late early soon tight
    approaching near close far big small huge tiny high low enough important urgent clear unclear unknown different
    similar unique complicated simple easy hard difficult expensive cheap happy sad tired sick missing gone done
    over finished working failing running stuck alive dead cute funny best worst better worse perfect ideal real true
    false key everything nothing something coming me you him her them it this that these those here there"""
)
"""Answers that give no value: "the deadline is tight" says nothing about the date."""

UNIQUE_RELATIONS: dict[str, str] = {
    word: relation
    for relation, words in {
        "spouse": "wife|husband|spouse",
        "partner": "partner|girlfriend|boyfriend|fiance|fiancé|fiancee|fiancée",
        "mother": "mother|mom|mum",
        "father": "father|dad",
        "manager": "manager|boss|supervisor",
        "landlord": "landlord|landlady",
    }.items()
    for word in words.split("|")
}
"""People of whom somebody has one at a time, and the word that their key uses."""

SHARED_RELATIONS = word_set(
    """sister brother son daughter cousin aunt uncle niece nephew friend grandmother grandfather grandma grandpa
    roommate flatmate colleague coworker neighbor neighbour dog cat puppy kitten bird horse rabbit hamster parrot
    turtle pet child kid baby stepmother stepfather stepsister stepbrother teacher mentor coach"""
)
"""People and pets of whom somebody may have several: their name is part of the key."""

COMMUNICATION = word_set(
    """code reply replies response responses answer answers message messages chat chats output outputs text texts
    writing conversation conversations email emails commit commits documentation docs comment comments
    explanation explanations summary summaries"""
)
"""Where an agent writes. A rule's scope of this sort only clarifies the rule, so it is left out of the key."""

STYLE_THINGS = word_set(
    """table list bullet point heading header headline footnote semicolon comma colon dash hyphen mark ellipsis
    parenthesis bracket quote quotation abbreviation acronym contraction cliche buzzword joke pun metaphor idiom
    disclaimer caveat apology greeting signature summary recap comment docstring import global number tab print gif
    sticker meme image link anglicism hashtag mock todo placeholder statement variable"""
)
STYLE_MATTERS = word_set(
    """emojis jargon slang sarcasm profanity swearing humor markdown html latex bold italics caps
    whitespace punctuation boilerplate fluff filler preamble flattery hardcoding smalltalk hyperbole"""
)
"""What an agent may be told to leave out of what it writes: "No ..." is a rule for these alone. Things that can be
counted must be many: "No comments" is a rule, "No comment" is none."""
