"""Pairs of words of which only one can hold at a time."""

_PAIRS = """
like/dislike like/hate love/hate enjoy/hate love/dislike enjoy/dislike prefer/avoid prefer/dislike use/avoid
on/off on/under in/out up/down over/under above/below before/after inside/outside left/right north/south east/west
enable/disable enabled/disabled activate/deactivate active/inactive allow/prohibit allow/deny allow/block allow/disallow
allowed/prohibited allowed/denied allowed/blocked allowed/disallowed accept/reject accepted/rejected accept/refuse
accepted/refused approve/reject approved/rejected approved/denied include/exclude included/excluded
require/prohibit required/optional mandatory/optional required/prohibited allowed/forbidden permitted/forbidden
always/never often/rarely everyone/nobody everything/nothing all/none yes/no true/false
start/stop start/end start/finish open/close open/closed opened/closed public/private internal/external
sync/async synchronous/asynchronous light/dark bright/dark black/white hot/cold warm/cold warm/cool high/low
higher/lower big/small large/small larger/smaller more/less more/fewer most/least maximum/minimum max/min
increase/decrease increased/decreased rise/fall raise/lower grow/shrink long/short longer/shorter tall/short
fast/slow faster/slower easy/hard easy/difficult simple/complex good/bad better/worse best/worst cheap/expensive
cheaper/dearer old/new old/young older/younger older/newer early/late earlier/later first/last next/previous
morning/evening day/night daily/nightly buy/sell bought/sold lend/borrow win/lose won/lost pass/fail passed/failed
succeed/fail success/failure add/remove added/removed create/delete created/deleted install/uninstall
upgrade/downgrade import/export push/pull upload/download input/output read/write encode/decode encrypt/decrypt
encrypted/plaintext lock/unlock locked/unlocked attach/detach connect/disconnect connected/disconnected
remember/forget arrive/leave arrived/left join/leave joined/left enter/exit come/go keep/discard keep/delete
hire/fire hired/fired married/single married/divorced single/divorced alive/dead healthy/sick full/empty
full-time/part-time indoor/outdoor indoors/outdoors online/offline remote/onsite remotely/onsite home/office
formal/informal formal/casual verbose/concise long/concise brief/verbose detailed/brief tab/space single/double
strict/lenient safe/dangerous safe/unsafe stable/unstable vegetarian/carnivore agree/disagree agreed/disagreed
support/oppose with/without male/female man/woman boy/girl mother/father mum/dad sister/brother son/daughter
husband/wife uncle/aunt manual/automatic manually/automatically static/dynamic local/remote local/global
horizontal/vertical positive/negative ascending/descending asc/desc sweet/savoury mild/spicy metric/imperial
right/wrong correct/incorrect valid/invalid same/different loud/quiet strong/weak wet/dry
"""

_OPPOSITES: dict[str, tuple[str, ...]] = {}
for _pair in _PAIRS.split():
    _one, _other = _pair.split("/")
    _OPPOSITES[_one] = (*_OPPOSITES.get(_one, ()), _other)
    _OPPOSITES[_other] = (*_OPPOSITES.get(_other, ()), _one)

_DENYING_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "de")
_SHORTEST_DENIED = 4


def opposites_of(word: str) -> tuple[str, ...]:
    """The words that cannot hold together with this one: listed ones, and those that a prefix turns around.

    >>> "disabled" in opposites_of("enabled"), "happy" in opposites_of("unhappy"), "coffee" in opposites_of("tea")
    (True, True, False)
    """
    listed = _OPPOSITES.get(word, ())
    bare = tuple(
        word[len(prefix) :]
        for prefix in _DENYING_PREFIXES
        if word.startswith(prefix) and len(word) >= len(prefix) + _SHORTEST_DENIED
    )
    if len(word) < _SHORTEST_DENIED:
        return listed + bare
    return listed + bare + tuple(prefix + word for prefix in _DENYING_PREFIXES)
