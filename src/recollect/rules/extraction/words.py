"""The words that the reading of messages turns on, as plain lists: lower case, apostrophes straight.

Add a word here when a message is read, or left out, wrongly because of it.
"""

from recollect.rules.language.calendar import MONTHS, WEEKDAYS
from recollect.rules.language.word_lists import entries, word_set
from recollect.rules.statements import tables

INSTRUMENTS_AND_SPORTS = entries(
    """guitar|bass|bass guitar|electric guitar|acoustic guitar|piano|keyboard|violin|viola|cello|double bass|flute
    clarinet|oboe|saxophone|trumpet|trombone|tuba|harp|drums|ukulele|banjo|mandolin|accordion|harmonica|organ|recorder
    football|soccer|basketball|baseball|tennis|table tennis|badminton|squash|volleyball|hockey|ice hockey|field hockey
    rugby|cricket|golf|chess|go|poker|bridge|darts|pool|billiards|handball|lacrosse|water polo|padel|pickleball"""
)

DEMONYMS = entries(
    """african|american|argentinian|asian|australian|austrian|belgian|brazilian|british|bulgarian|canadian|chilean|chinese
    colombian|croatian|cuban|czech|danish|dutch|egyptian|english|estonian|ethiopian|european|filipino|finnish|french
    german|ghanaian|greek|hungarian|icelandic|indian|indonesian|iranian|iraqi|irish|israeli|italian|jamaican|japanese
    jordanian|kenyan|korean|latvian|lebanese|lithuanian|malaysian|mexican|moroccan|nepalese|nigerian|norwegian|pakistani
    peruvian|polish|portuguese|romanian|russian|scottish|serbian|singaporean|slovak|slovenian|somali|spanish|swedish|swiss
    syrian|taiwanese|thai|tunisian|turkish|ukrainian|venezuelan|vietnamese|welsh|bavarian|catalan|basque|texan|californian
    buddhist|catholic|christian|hindu|jewish|muslim|orthodox|protestant|sikh|atheist|mormon|republican|democrat"""
)
"""What people are, as against what they are called: "my wife is German" gives no name."""

JUDGEMENTS = entries(
    """excellent|careful|terrible|safe|talented|brilliant|passionate|skilled|skillful|lousy|born|natural|true|real|proud
    wonderful|gifted|experienced|inspiring|kind|caring|dedicated|hopeless|mediocre|decent|fellow|fast|tough|strict|former
    retired|aspiring|future|wannabe|part-time|huge|big|bit"""
)
"""What is said about how somebody does a job, or about another time."""

JOBS = entries(
    """accountant|actuary|administrator|analyst|architect|attorney|barista|barber|biologist|bookkeeper|broker|butcher
    carpenter|cashier|ceo|cfo|chef|chemist|cleaner|clerk|consultant|cto|dentist|dermatologist|detective|developer
    dietitian|director|doctor|economist|editor|electrician|engineer|farmer|firefighter|florist|gardener
    geologist|hairdresser|historian|janitor|journalist|judge|lawyer|lecturer|librarian|machinist|manager|mechanic
    midwife|neurologist|nurse|officer|optician|paralegal|paramedic|pediatrician|pharmacist|physician|physicist
    physiotherapist|pilot|plumber|policeman|postman|producer|professor|programmer|psychiatrist|psychologist
    radiologist|realtor|receptionist|recruiter|researcher|salesman|scientist|secretary|surgeon|surveyor|tailor|teacher
    technician|therapist|translator|tutor|vet|veterinarian|waiter|waitress|welder"""
)
"""Occupations that people are paid for. Callings that sit beside one (writer, dancer, gamer) are left out."""

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

SUPPOSING = word_set(
    """if unless whether suppose supposing imagine pretend pretending assume assuming hypothetically maybe perhaps
    possibly probably presumably supposedly apparently allegedly might could would should wish wishing hope hoping
    hopefully guess wonder wondering think thought believe believed feel suspect doubt dreamt dreamed almost
    nearly sometimes say said says saying told tells wrote writes written replied asked claims claimed sings
    quoted texted joked mentioned thinks believes assumes heard according someday i'd i'll we'd"""
)
"""From one of these on, a sentence is in doubt: what follows is supposed, wished for, or somebody else's words."""

MADE_UP = word_set(
    """dream dreams novel story stories game games character scenario role-play roleplay lyrics lyric song songs joke
    jokes poem play script movie film book dialogue example universe simulation"""
)
"""In a phrase before "I" these open a made-up world: "in my dream I live in Rome"."""

LEADS_IN = word_set(
    """in at for when on with during as while after before like since until once whenever under to by from without
    within because although though where wherever how that which who than whenever"""
)
"""A phrase that opens with one of these narrows what comes after it, so that is no plain statement."""

QUESTION_WORDS = word_set(
    """can could would will shall should do does did is are was were am may might must have has had what how where
    when why who whom whose which any isn't aren't don't doesn't didn't won't wouldn't couldn't shouldn't haven't
    hasn't wasn't weren't got"""
)

POINTING = word_set(
    """it its it's that this these those you your yours he him his she her hers they them their theirs us me who whom
    whose how when where what why which whatever one ones both all some any every each such same so too not being
    having getting seeing hearing knowing there here everyone everybody everything someone something nothing
    anything people more most better best less the a an my our no another other others first second third former
    latter option options version versions idea suggestion draft result example way ways part parts thing things
    lot lots bit yeah"""
)
"""What somebody likes may not begin with these: they point at something outside the sentence."""

WITH_THE = entries(
    """beach|ocean|sea|outdoors|mountains|rain|snow|cold|heat|sun|theatre|theater|opera|countryside|cinema|city life
    wilderness|great outdoors|beatles|gym|winter|summer|autumn"""
)
"""What may stand after "the" and still is the same for everyone."""

OUTSIDE = word_set(
    """it this that these those them him her he she they there here you your yours yourself you're you've you'll
    something everything anything nothing someone everyone one ones"""
)
"""A phrase with one of these does not stand on its own."""

NOT_A_NAME = (
    VAGUE_VALUES
    | DEMONYMS
    | frozenset(tables.states())
    | JOBS
    | word_set(
        """sorry tired hungry thirsty here back home sick ill bored excited glad afraid scared worried confused
        curious sure certain unsure lost late early ready done in out on off at from just really very so too
        also still not currently now trying looking going working using thinking wondering having getting
        feeling doing making planning interested aware able about all always never almost alone awake alive
        angry annoyed anxious ashamed available based born both fluent allergic pregnant bilingual autistic gay
        straight bisexual trans nonbinary queer lactose gluten celiac coeliac diabetic human batman superman
        santa god jesus spider-man nobody somebody queen king important unknown secret irrelevant misspelled
        misspelt mud yours mine legion monday team gen covid adhd type pro anti kinda sorta gonna wanna well
        welcome grateful thankful proud pumped thrilled stoked honored honoured aries deaf blind agnostic bi
        pansexual asexual hispanic latino latina unemployed caribbean taurus gemini virgo libra scorpio
        sagittarius capricorn aquarius pisces"""
    )
)
"""Capitalised or not, what comes after "I'm" is not a name if it is one of these."""

UNSKILLED = word_set(
    """nervous poor lazy heavy light picky frequent first-time amateur budding recreational slow quick keen avid visual
    good bad great better worse best worst new old nice perfect single happy sad would-be hobby weekend"""
)
"""What makes of an occupation a habit: "a bad driver", "a keen dancer"."""

NO_PLACE = frozenset(MONTHS) | word_set(
    """excel notion slack jira outlook vim emacs terminal discord zoom teams google github gmail chrome narnia
    hogwarts wonderland hell heaven paradise neverland gotham westeros middle-earth mordor hope fear peace denial
    poverty building room
    block apartment flat unit floor dorm house kubernetes docker aws azure"""
)
"""Capitalised after "I live in", and yet no home."""

MORE_JOBS = entries(
    """designer|writer|author|student|musician|singer|artist|painter|photographer|freelancer|entrepreneur|contractor
    founder|co-founder|cofounder|baker|actor|actress|dancer|coach|trainer|cook|driver|nanny|pastor|priest|worker
    owner|intern|marketer|blogger|streamer|podcaster|composer|sculptor|illustrator|animator|filmmaker|videographer
    copywriter|novelist|poet|potter|lead|head|president|vp|principal|specialist|strategist|planner|coordinator
    supervisor|assistant|associate|agent|representative|salesperson|mathematician|statistician|astronomer|chemist
    postdoc|soldier|sailor|fisherman|fireman|policewoman|bartender|caregiver|counselor|counsellor|instructor
    tester|administrator|operator|builder|roofer|mason|optometrist|anesthesiologist|cardiologist|oncologist
    oceanographer|archaeologist|anthropologist|sociologist|linguist|philosopher|theologian|apprentice|trainee
    stylist|beautician|masseuse|undertaker|auditor|banker|trader|investor|graduate|technologist|sysadmin
    devops engineer|sre|coo|cmo|cpo|ciso"""
)
"""Occupations and callings by which people say what they do, besides `JOBS`."""

NO_SUBSTANCE = word_set(
    """enough before after much and or at in on with without late out well alone from until lunch breakfast dinner
    nonsense work mornings drama stupidity bullshit monday mondays friday fridays exercise change commitment"""
)
"""What nobody is allergic to, and what "I don't eat" may be followed by without naming a food."""

FAMILY = entries(
    """kids|children|sons|daughters|twins|kid|child|son|daughter|sister|brother|sisters|brothers|siblings
    grandchildren|grandkids|stepkids|boys|girls"""
)
CLOSINGS = entries(
    """btw|by the way|fyi|thanks|thank you|please|pls|these days|nowadays|now|too|as well|also|a lot|so much
    very much|hands down|from now on|fluently|more than anything|the most|though|tho|honestly|anyway|at all|again
    everyone|everybody|guys|all|there|for your information|if you didn't know|you know|of course|obviously
    in general|generally|overall|for context|for reference|myself|ok|okay|here|for sure|to be honest|tbh|in fact
    nice to meet you|pleased to meet you|in life|ever|already|yet|either|personally|as you know|just so you know
    by now|everyone does|by trade|by profession"""
)
"""Ways to end a statement that leave it unchanged."""
