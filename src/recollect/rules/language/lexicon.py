"""The closed word classes: which words carry nothing, deny, hedge, point in time, or hold a sentence together.

Everything is written as its key (see ``spelling.read_word``): lower case, singular, British ``-ise``.
"""

from recollect.rules.language.calendar import WEEKDAYS
from recollect.rules.language.word_lists import word_set

NEGATIONS = word_set("no not never none nobody nothing nowhere neither nor without non not! no!")
"""``not!`` opens a rule that forbids to do something ("Never deploy …"), ``no!`` one that forbids a thing ("No emojis")."""

FOREIGN_NEGATIONS = word_set(
    """nicht nie niemals nichts niemand kein keine keinen keinem keiner keines ohne pas jamais aucun aucune sans nunca jamás
    nadie ningún ninguna sin não nenhum nenhuma sem non mai senza niet nooit geen zonder"""
)
"""Words that deny in languages that are not read: a text with one of them is never taken for its opposite."""

MODALITY = word_set(
    """must should shall ought may might can could would always usually normally generally typically often
    sometimes occasionally rarely hardly barely maybe probably possibly likely unlikely certainly
    definitely surely if unless whether think believe guess suppose assume hope wish want seem apparently allegedly
    supposedly only mainly mostly partly almost nearly about exactly precisely all every
    some any many much more most few little several both either enough avoid need require recommend suggest consider
    try plan intend expect optional optionally mandatory ideally default would' least"""
)

TENSE = word_set(
    """was will had did used-to no-longer going-to been already yet now formerly previously soon later earlier recently
    anymore again ago once become became"""
)

ALWAYS_LIGHT = word_set("please kindly basically honestly literally actually indeed also as-well")
"""Words that can be left out anywhere without changing what is claimed."""

DEGREES = word_set("really very quite truly totally absolutely")
"""Left out, unless right after a negation: "not really" is not "not"."""

ARTICLES = frozenset({"a", "the"})
POSSESSIVES = word_set("my your his her its our their 's")
QUANTIFIERS = word_set("all every some any many much most few several both either no only")
PRONOUNS = word_set("i we you they he she it me us them him my your his her its our their this that these those there")
SUBJECT_PRONOUNS = word_set("i we you they he she it")
PRONOUNS_WITH_IS = word_set("he she it that there what who where how here this when why")

PREPOSITIONS = word_set(
    """in on at by for with without of to from into onto over under before after during until since between among
    through about against per via like than as near behind above below beside besides within towards toward across
    along around beyond except off out up down upon"""
)
SMALL_IN_HEADINGS = word_set("a the and or of in on to for with by at from")
CLAUSE_WORDS = word_set("and or but if unless because when while that which who whom whose where so although")

MAY_FRONT = word_set(
    "in on at during before after for since until when while if unless with without by from as every within"
)
"""A phrase that opens with one of these may stand at the front, closed by a comma, or at the end."""

DATE_PREPOSITIONS = frozenset({"on", "at", "in"})
"""Before a date or a clock time these say nothing by themselves: "on Friday" is "Friday"."""

REPORTING_VERBS = word_set("say said tell told think know remember note believe guess mention mentioned hope")
"""After these a "that" is only a joint."""

VERBS_WITH_A_CLAUSE = REPORTING_VERBS | word_set(
    """ask asked thought knew plan planned decide decided promise promised want wanted wish agree agreed expect
    expected suggest suggested recommend recommended propose proposed remind reminded announce announced confirm
    confirmed let make made help helped see saw hear heard watch watched feel felt keep kept consider considered
    report reported"""
)
"""With one of these in a sentence, "on Monday" or "always" may belong to either of two verbs, and has to stay put."""

TASTE_VERBS = word_set("like love enjoy hate dislike prefer start continue")
"""After these "to swim" and "swimming" say the same."""

LISTING_VERBS = word_set(
    """like love enjoy hate dislike prefer speak know own have use need want include support avoid contain cover
    require eat drink play read study teach sell buy no!"""
)
"""The objects of these, joined by "and" or "or", come in no particular order."""

OPENERS = word_set("well so actually no yes yeah ok okay oh hey hi btw fyi remember sorry thanks sure anyway")
"""Before a comma, these only open a sentence."""

HEADINGS = word_set("note reminder correction remember fyi btw update")
"""Before a colon, these only announce what follows."""

EMPHASISED = word_set("no not never always must only all any every do please and or but the be use should will if")
"""Words that people write in capitals for emphasis."""

ACRONYM_AND_WORD = word_set(
    """ace act aids aim arm art asp bar bat bit cad cam cap car care cat chip cobra cop cord core dart dash dim dot ear
    epic era erase face fair far fast fat fax fed fit flag gap gas gem gig grace harm hip hop jam lab lamp lap lead lean
    led lid lime lisp mac mad map mars mask mat mint mist moat net nice nod nut oak opt own pal pan peg pen pep pet pin
    pit pod posh post ram raid rap rat ref rest rip rom root rust safe salt sap sat scar scum sea sharp ship sip smart
    snap soap solid spa spam spin star start stem sun swat tab tan tap tar tip track van vat war wasp web wise word"""
)
"""Words that, in capitals, are an acronym of something else: "PIN", "SAT", "RAM"."""

STUFF_OR_THINGS = word_set(
    """chicken lamb duck turkey fish paper iron hair work experience right term sale operation resource security time
    force damage wood water sand part salt sugar chocolate light fire stone cloth land
    power property spirit ground interest love pain people person memory minute second letter arm authority asset
    benefit class art manner saving finding holding trust tongue tooth head heart
    rabbit crab lobster goose cricket pepper mint date green blue white brown sweet short rock metal house country soul
    folk swing pool squash football basketball baseball volleyball company youth rubber copper silver gold glass"""
)
"""Words of which the plural is another thing: "likes chicken" is about food, "likes chickens" about animals. What is poured
or baked is not among them: who likes teas likes tea."""

CASE_FREE = word_set(
    """api ui ux url uri json yaml toml xml sql css html http https aws gcp cpu gpu pr ci cd ssh db id pdf csv vpn dns
    ip tv ok usb sdk cli ide orm crud i python java docker redis kubernetes postgresql mysql sqlite mongodb kafka
    nginx linux macos android ios github gitlab jira figma terraform ansible jenkins javascript typescript angular
    vue django flask fastapi npm git bash vim emacs vscode firefox internet english french german spanish italian
    portuguese chinese japanese korean russian arabic dutch youtube linkedin iphone ipad wifi"""
)
"""Names and abbreviations that mean the same in any capitalisation."""

COMMON_AND_NAME = word_set(
    """apple target may march august will mark bill rose grace hope faith joy summer autumn china turkey polish us it
    who pat frank rich jack art guy gene ray rob sue drew chase miles penny ruby dawn eve iris ivy lily olive violet
    amber page gap shell oracle amazon windows word excel teams go swift rust python java kotlin spark storm hive
    pig zoom slack notion square stripe block discord signal nice cork reading bath mobile jordan georgia chad mali
    cuba"""
)
"""Words that are one thing as a name and another as a common word: even a writer without capitals may mean either."""

ENGLISH_WORDS = frozenset(WEEKDAYS) | word_set(
    """the is are were be been my you your she it we they our their his its this that these those and but if not never
    of to for with at by from does did has have had would should must could might use uses used prefer prefers like
    likes loves hates always any every each when who what where how there over than after before during without only
    please avoid about into out up off too two three four five six seven eight nine ten twice time times day days
    week month year years take takes run runs work works live lives speak speaks meet meets keep keeps write writes
    make makes don't doesn't new old first last more most less least some both either allergic favourite favorite
    depends requires needs wants manages owns knows says thinks goes gets reads calls sends supports includes
    contains costs starts begins ends opens closes deploy deploys build builds test tests means january
    february march may june july october december minutes hours
    months emoji emojis commit commits eat eats drinks"""
)
"""One of these is taken as a sign of English, unless a word of another language is there as well. Words that other
languages have too ("a", "in", "no", "me", "was", "will") are not among them."""

FOREIGN_WORDS = word_set(
    """el los las del una uno que con por para como pero muy mi tu su es est esta este soy le les des une et avec
    pour dans sur pas je nous vous ils elle der das und ist nicht mit ein eine ich wir sie auf für von zu dem
    il lo gli che di da è sono ho più het een niet ik zijn och att det som är jag ikke og av nie się
    jest jak dla bir ve bu için não um uma ao são é eu yang untuk tidak saya ini itu la de du en"""
)
"""Words that only other languages have, as long as they stand in lower case: "los", but not "Los Angeles"."""
