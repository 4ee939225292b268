"""Read English closely enough to tell whether two statements say the same thing.

Data flows one way: ``scanning`` cuts a text into ``marks``, ``reading`` joins marks that belong together (dates, numbers
with units, fixed phrases) and drops the words that carry nothing, ``rewriting`` brings statements that differ only in a
safe way ("On Fridays we deploy", "We deploy on Fridays") into one form. ``lexicon``, ``spelling`` and ``calendar`` know the
words, which are listed in ``words.toml``. What none of them knows is compared as written.
"""
