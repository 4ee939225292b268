"""What a new statement is to a stored one, pair by pair."""

from recollect.rules.statements import Relation, compare, read_statement
from rows import every_row

CHANGED = [
    # no rule names the attribute: all the words but the measure do
    ("We heat the nursery to 19 degrees", "We heat the nursery to 21 degrees"),
    ("Sprints last two weeks", "Sprints last three weeks"),
    ("Piano lessons cost 35 euros an hour", "Piano lessons cost 40 euros an hour"),
    ("Backups of the wiki run at 02:00", "Backups of the wiki run at 04:30"),
    ("Requests to the geocoder time out after 5 seconds", "Requests to the geocoder time out after 30 seconds"),
    # two towns that are too far apart for one to be part of the other
    ("Nordvik is headquartered in Austin", "Nordvik is headquartered in Singapore"),
    # where a thing is kept, whoever keeps it
    ("We keep the spare key in the hall drawer", "The spare key is kept under the flowerpot"),
    ("The weekly meeting of the choir is on Monday", "The weekly meeting of the choir is on Friday"),
    ("Our train to Vienna leaves at 06:52", "Our train to Vienna leaves at 09:14"),
    ("The interest rate on our loan is 1.9%", "The interest rate of our loan is 3.4%"),
    ("Rovers is managed by Stefan Oberle", "Gary Whitcombe has been appointed manager of Rovers"),
    ("Bilal reports to Francesca", "Since the reorg Bilal reports to Lakshmi"),
    ("The boiler is serviced by Heatwise", "The boiler gets serviced by Gasfix now"),
    # a value that is told with its own noun, or that is of a class of which one holds
    ("The viewer runs version 1.4.0", "The viewer is on version 1.5.0"),
    ("Kim wears shoe size 38", "Kim wears shoe size 39"),
    ("The ferry to Holm leaves from pier B4", "The ferry to Holm leaves from pier 7"),
    ("Mr Odell's seat is 14C", "Mr Odell's seat is 22A"),
    ("Kim is on the Basic plan", "Kim is on the Plus plan"),
    ("Kim works the night shift", "Kim works the late shift"),
    ("The extension has a budget of 900 euros", "The extension has a budget of 1,400 euros"),
    ("The garden gate is green", "The garden gate is dark blue"),
    ("Kim's position is right wing", "Kim's position is left back"),
    ("The status of parcel 12 is pending", "The status of parcel 12 is shipped"),
    # verbs with one object, holder, place or means at a time
    ("The canteen is supplied by Holm Foods", "The canteen is supplied by Greenway"),
    ("The deli buys its flour from Holm Mill", "The deli buys its flour from Stone Mill"),
    ("Kim uses Notepad for recipes", "Kim uses Obsidian for recipes"),
    ("Kim Vale serves as treasurer of the choir", "Lou Marsh serves as treasurer of the choir"),
    ("The drink Kim likes best is tea", "The drink Kim likes best is flat white"),
    ("A Spring Ledger was written by Kim Vale", "A Spring Ledger was written by Lou Marsh"),
    # when something is, with its preposition or without
    ("Curfew is 10 pm", "Curfew is 11 pm"),
    ("Breakfast is at 7:30", "Breakfast is 8:00 now"),
    ("Practice is Tuesday", "Practice is on Thursday"),
    # people whose name is that of a month
    ("Kim is married to Lou", "Kim is now married to Jan"),
    ("Kim reports to April", "Kim reports to Lou now"),
    ("Kim is engaged to Lou", "Kim is now engaged to June"),
    # a promotion, whichever words the new role has
    ("Kim works as a nurse", "Kim has been promoted to shift supervisor"),
    ("Kim works as a nurse", "Kim was promoted from nurse to ward sister"),
    # the value of a slot
    ("The rent is 900 euros", "The rent is 950 euros now"),
    ("The rent is 900 euros", "The rent was raised to 950 euros"),
    ("The head coach of Harriers is Piet Vries", "Nora Blyth took over as head coach of Harriers"),
    ("The CEO of Corvex is Joan Meier", "Victor Lund succeeded Joan Meier as CEO of Corvex"),
    ("The API listens on port 8443", "The port of the API is 9443"),
    ("The stand-up is at 9:30", "The stand-up was moved to 10:15"),
    ("The thesis deadline is 1 June", "The deadline for the thesis has been extended to 15 June"),
    ("My exam is on 4 October", "We've pushed the exam back to 12 November"),
    ("User takes 50 mg of metoprolol", "The doctor increased User's metoprolol to 100 mg"),
    ("User has 2 hens", "User has four hens"),
    ("Wrap lines at 80 characters", "Wrap lines at 100 characters"),
    # who makes or owns a thing, and where it is put
    ("The shop is owned by Kim", "The shop is owned by Lou"),
    ("Radio Tern is owned by Kim Dahl", "Lou Marsh owns Radio Tern"),
    ("The almanac is published by Weldon & Sons", "The publisher of the almanac is Marsh House"),
    ("The cluster is deployed in eu-west-1", "The cluster is deployed in us-east-2"),
    ("Tidemark is licensed under MIT", "The licence of Tidemark is Apache 2.0"),
    ("The shop stores its data in MySQL", "The shop stores its data in PostgreSQL"),
    ("Norland has its capital in Vesby", "The capital of Norland is Karpool"),
    ("Kim is on call for the payments team", "Lou is on call for the payments team"),
    # a description with a relative clause says what the clause says
    ("The company Kim works for is Corvex", "Kim works for Globex"),
    ("The town where my aunt lives is Graz", "The town where my aunt lives is Linz"),
    ("The doctor who looks after my aunt is Dr. Amadi", "The doctor who looks after my aunt is Dr. Crane"),
    ("The type of music that Kim plays is jazz", "The type of music that Kim plays is soul"),
    # a value said with its sort
    ("Kim follows the religion of Islam", "Kim follows the religion of Buddhism"),
    ("FC Tern plays in the league of Serie A", "FC Tern plays in the league of Serie B"),
    # any event and any habit
    ("The housewarming is on 5 May", "The housewarming got moved to 12 May"),
    ("It turns out the gate code is 4411", "It turns out the gate code is 5522"),
    # with a change marker a place supersedes
    ("User lives in Lisbon", "User moved to Braga"),
    ("User lives in Lisbon", "User now lives in Braga"),
    ("User lives in Lisbon", "User moved from Lisbon to Vila Nova"),
    # by the old value that the new statement names
    ("User drives a Peugeot", "User traded in the Peugeot for a Skoda"),
    ("We use Jenkins for CI", "We switched from Jenkins to Buildkite for CI"),
    ("My favourite tea is Earl Grey", "Actually, my favourite tea is jasmine, not Earl Grey"),
    # polarity
    ("Davide doesn't eat cheese", "Davide eats cheese now"),
    ("Dogs are not allowed in the office", "Dogs are allowed in the office now"),
]

RETRACTED = [
    ("User jogs", "User quit jogging"),
    ("I fence", "I gave up fencing"),
    ("Kim gambles every Friday", "Kim stopped gambling"),
    ("The potluck is on 5 May", "The potluck was pushed back"),
    ("User works at Corvex", "User no longer works at Corvex"),
    ("User works at Corvex", "User quit Corvex"),
    ("User is a member of the chess club", "User left the chess club"),
    ("User owns a canoe", "User sold the canoe"),
    ("User drives a red Peugeot", "User sold the Peugeot"),
    ("We use CircleCI", "CircleCI was removed"),
    ("User sings", "User quit singing"),
    ("User plays handball", "User has quit handball"),
    ("User is a member of the choir", "User quit the choir"),
    ("I love coriander", "I can't stand coriander now"),
    ("User likes techno", "User no longer likes techno"),
    ("User plays chess on Mondays", "User doesn't play chess any more"),
    ("User is dating Robin", "User and Robin broke up"),
    ("User is married to Marek", "User and Marek divorced last year"),
    ("User is married to Marek", "User is divorced"),
    ("I'm engaged to Paul", "Paul and I split up"),
    ("I'm engaged to Paul", "Me and Paul broke up"),
    ("User is allergic to nuts", "User has outgrown the nut allergy"),
    ("The office has a sauna", "There is no sauna in the office any longer"),
    ("Greta has a dog called Biscuit", "Biscuit, Greta's dog, died at Christmas"),
    ("We have a dog called Biscuit", "Our dog Biscuit died last week"),
    ("Greta's cat is called Moppet", "Greta's cat Moppet has passed away"),
    ("User has a headache", "User's headache is gone"),
    ("User takes antibiotics", "User stopped taking antibiotics"),
    ("The dentist appointment is on 5 May", "The dentist appointment was cancelled"),
]

SAME = [
    ("I don't like fish", "I dislike fish"),
    ("I like tea", "I like TEA"),
    ("Smoking is forbidden on the balcony", "Smoking is not allowed on the balcony"),
    ("Never push directly to main", "Pushing directly to main is not allowed"),
    ("No emojis.", "Please never put emojis into your answers."),
    ("Don't use emoji in replies", "No emojis."),
    ("My landlord is called Mr. Adler", "Mr. Adler is my landlord"),
    ("Anton is married to Solveig", "Anton's wife is Solveig"),
    ("The hamster weighs 2 kilograms", "The hamster's weight is two kilos"),
    ("The stand-up is at 3 pm", "The stand-up is at 15:00"),
    ("User can't ski", "User is unable to ski"),
    ("Two bakers founded the company in 1981", "The company was founded by two bakers in 1981"),
    ("Lake Vänern is the largest lake in Sweden", "Sweden's biggest lake is Lake Vänern"),
    ("User's date of birth is 9 November 1988", "User was born on 9 November 1988"),
]

CONTESTED = [
    ("Kim is sometimes called Bee", "Kim is sometimes called Ace"),
    ("The heron is found in Norway", "The heron is found in Peru"),
    ("User lives in Lisbon", "User lives in Alfama"),
    ("User lives in Lisbon", "User moved to Kubernetes"),
    ("User works at Corvex", "User joined Mensa"),
    ("User works as a nurse", "User works as a volunteer firefighter"),
    ("User was born in Portugal", "User was born in Braga"),
    ("Kim was educated at Weldon College", "Kim was educated at Marsh University"),
    ("The march was performed by Kim in 2019", "The march was performed by Lou in 2021"),
    ("The company was founded in Graz", "The company was founded in Styria"),
    ("The ferry leaves at 8:00", "The ferry leaves at 9:00"),
    ("My manager is Ana", "My manager is Ana Ruiz"),
]

APART = [
    ("User likes handball", "User has quit handball"),
    ("User plays handball", "User quit football"),
    ("Today is Tuesday", "Today is Wednesday"),
    ("Curfew is 10 pm", "Curfew is 9 pm on Sundays"),
    ("My brother is called Rex", "Our dog Rex died"),
    ("We have a dog called Bella", "Our dog Rex died"),
    ("We have a dog", "Our dog Rex died"),
    ("I have a phone", "My phone died"),
    # a code or a number that is one of several
    ("Release 4.2 is affected by BUG-118", "Release 4.2 is affected by BUG-231"),
    ("Kim has a lesson at 9", "Kim has a lesson at 10"),
    ("The shop has a v1 endpoint for orders", "The shop has a v2 endpoint for orders"),
    ("The gateway supports version 2", "The gateway supports version 3"),
    ("The country has Zulu as an official language", "The country has Xhosa as an official language"),
    ("I take the bus at 8", "I take the bus at 17:30"),
    ("Kim is on call for the payments team this week", "Lou is on call for the payments team next week"),
    ("Kim is one of Lou's clients", "Ann is one of Lou's clients"),
    ("The mayor is patron of Tarn School", "The mayor is patron of Holm School"),
    ("Kim is fond of Tarn", "Lou is fond of Tarn"),
    ("The plugin supports version 2", "The plugin supports version 3"),
    ("Flight KL22 leaves from gate B7", "Flight KL22 arrives at gate C2"),
    ("Kim is on the night shift this week", "Kim is on the day shift next week"),
    ("My car is red", "My car is fast"),
    ("Kim's hair is black", "Kim's hair is curly"),
    ("Kim belongs to the Tarn Choir", "Kim belongs to the Rowing Club"),
    ("In the Friday meeting the language is Dutch", "In the Monday meeting the language is French"),
    ("I drink tea", "I stopped drinking"),
    ("On weekdays I get up at 6", "On Sundays I get up at 9"),
    ("Corvex makes SUVs", "Globex makes SUVs"),
    ("The band I like is Muse", "The band I like is Blur"),
    ("Kim is assigned to Project Tern", "Kim is assigned to Project Heron"),
    ("Kim practises law", "Kim practises yoga"),
    # another subject, another attribute
    ("User lives in Lisbon", "User's sister lives in Braga"),
    ("User's car is a Peugeot", "User's wife's car is a Tesla"),
    ("User weighs 72 kg", "User's backpack weighs 15 kg"),
    ("The price for members is 10 euros", "The price for guests is 15 euros"),
    ("The default port is 7070", "The default user is guest"),
    # scope
    ("No emojis.", "No emojis in commit messages"),
    ("No swearing in code", "No swearing in emails"),
    ("The timeout is 30 s", "The timeout is 10 s in staging"),
    ("User prefers window seats", "User prefers window seats on long flights"),
    ("The shop opens at 9:00", "The shop opens at 10:00 on Mondays"),
    ("User gets up at 6:30", "User gets up at 9 at the weekend"),
    ("User moved to Braga for the summer", "User lives in Lisbon"),
    # tense, plans, hearsay
    ("User lives in Lisbon", "User lived in Braga"),
    ("User lives in Lisbon", "User wants to move to Braga"),
    ("User lives in Lisbon", "User will move to Braga in May"),
    ("User works at Corvex", "User almost quit Corvex"),
    ("User's wife is Eva", "User's former wife is Ana"),
    # several hold together
    ("User likes tea", "User likes coffee"),
    ("User's son is Tom", "User's son is Ben"),
    ("User is a nurse", "User is a volunteer firefighter"),
    ("The issue is throughput", "The issue is storage"),
    ("User has a dog named Rex", "User has a dog named Bello"),
    # another sort of value
    ("The limit is 10 MB", "The limit is 10 requests per second"),
    ("The single was recorded in Oslo", "The single was recorded in 1983"),
    ("User's birthday is April 9", "User's birthday is on Sunday"),
    ("The deadline is July 2", "The deadline is tight"),
    ("The default branch is main", "The default branch is locked"),
    ("User's manager is Kay", "User's manager is not amused"),
    # something else ended
    ("User likes the Peugeot", "User sold the Peugeot"),
    ("User owns a house in Spain", "User sold the house"),
    ("Clara keeps her flat in Turin", "Clara sold her flat in Genoa"),
    ("We use Redis for queues", "We removed the Redis cache"),
    ("I wait for the bus", "I stopped taking the bus"),
    ("User drives a car", "User stopped the car"),
    ("User works at Corvex", "User's brother left Corvex"),
    # it says more
    ("User works at Corvex", "User works at Corvex and paints"),
    ("User moved to Braga", "User moved to Braga last spring"),
]

CASES = [
    (relation, old, new)
    for relation, pairs in (
        (Relation.CHANGED, CHANGED),
        (Relation.RETRACTED, RETRACTED),
        (Relation.SAME, SAME),
        (Relation.CONTESTED, CONTESTED),
        (Relation.APART, APART),
    )
    for old, new in pairs
]


@every_row(("relation", "old", "new"), CASES)
def test_a_new_statement_relates_to_a_stored_one(relation: Relation, old: str, new: str) -> None:
    assert compare(read_statement(old), read_statement(new))[0] is relation


@every_row(("relation", "old", "new"), [case for case in CASES if case[0] is not Relation.APART])
def test_frames_that_meet_share_a_lookup(relation: Relation, old: str, new: str) -> None:
    """A store finds the old memory by name, by slot, or by subject and value: without one of them they never meet."""
    _, former, later = compare(read_statement(old), read_statement(new))
    assert former is not None and later is not None
    assert former.name == later.name or former.slot == later.slot or former.subject_value == later.subject_value


@every_row(("old", "new"), [*APART, *CONTESTED])
def test_what_stays_apart_does_so_in_both_orders(old: str, new: str) -> None:
    relation = compare(read_statement(new), read_statement(old))[0]
    assert relation in (Relation.APART, Relation.CONTESTED)


def test_a_promotion_changes_the_role_and_leaves_the_employer() -> None:
    promoted = read_statement("Rhys was promoted to lab manager at Fenwick Labs")
    assert compare(read_statement("Rhys's position is junior chemist"), promoted)[0] is Relation.CHANGED
    assert compare(read_statement("Rhys works at Fenwick Labs"), promoted)[0] is Relation.APART


def test_nothing_meets_what_was_not_read() -> None:
    assert compare((), read_statement("User lives in Braga")) == (Relation.APART, None, None)
