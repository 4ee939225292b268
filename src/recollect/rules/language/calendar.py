"""The names of months and weekdays, once for every rule that knows them."""

MONTHS = tuple("january february march april may june july august september october november december".split())
SHORT_MONTHS = tuple("jan feb mar apr jun jul aug sep sept oct nov dec".split())
WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
SHORT_WEEKDAYS = tuple("mon tue tues wed thu thur thurs fri sat sun".split())

# In regular expressions the longest name stands first, so that "sept" is not read as "sep".
ANY_MONTH = "|".join(sorted((*MONTHS, *SHORT_MONTHS), key=len, reverse=True))
ANY_WEEKDAY = "|".join(WEEKDAYS)
