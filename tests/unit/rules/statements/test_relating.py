"""What a new statement is to a stored one, pair by pair."""

import pytest

from recollect.rules.statements import Relation, compare, read_statement

CHANGED = [
    # the value of a slot
    ("The rent is 900 euros", "The rent is 950 euros now"),
    ("The rent is 900 euros", "The rent was raised to 950 euros"),
    ("The head coach of Rovers is Danny Moss", "Ellie Grant took over as head coach of Rovers"),
    ("The CEO of Acme is Joan Meier", "Victor Lund succeeded Joan Meier as CEO of Acme"),
    ("The API listens on port 8443", "The port of the API is 9443"),
    ("The stand-up is at 9:30", "The stand-up was moved to 10:15"),
    ("The thesis deadline is 1 June", "The deadline for the thesis has been extended to 15 June"),
    ("My wedding is on 7 September", "We've pushed the wedding back to 19 October"),
    ("User takes 50 mg of sertraline", "The doctor increased User's sertraline to 100 mg"),
    ("User has 2 cats", "User has three cats"),
    ("Wrap lines at 80 characters", "Wrap lines at 100 characters"),
    # with a change marker a place supersedes
    ("User lives in Lisbon", "User moved to Porto"),
    ("User lives in Lisbon", "User now lives in Porto"),
    ("User lives in Lisbon", "User moved from Lisbon to Vila Nova"),
    # by the old value that the new statement names
    ("User drives a Volvo", "User traded in the Volvo for a Skoda"),
    ("We use Jenkins for CI", "We switched from Jenkins to Buildkite for CI"),
    ("My favourite tea is Earl Grey", "Actually, my favourite tea is jasmine, not Earl Grey"),
    # polarity
    ("Davide doesn't eat cheese", "Davide eats cheese now"),
    ("Dogs are not allowed in the office", "Dogs are allowed in the office now"),
]

RETRACTED = [
    ("User works at Acme", "User no longer works at Acme"),
    ("User works at Acme", "User quit Acme"),
    ("User is a member of the chess club", "User left the chess club"),
    ("User owns a motorbike", "User sold the motorbike"),
    ("User drives a red Volvo", "User sold the Volvo"),
    ("We use CircleCI", "CircleCI was removed"),
    ("User smokes", "User quit smoking"),
    ("I love coriander", "I can't stand coriander now"),
    ("User likes techno", "User no longer likes techno"),
    ("User plays tennis on Sundays", "User doesn't play tennis any more"),
    ("User is dating Chris", "User and Chris broke up"),
    ("User is married to Stefan", "User and Stefan divorced last year"),
    ("User is married to Stefan", "User is divorced"),
    ("User is allergic to eggs", "User has outgrown the egg allergy"),
    ("The office has a canteen", "There is no canteen in the office any longer"),
    ("Fiona has a dog called Rufus", "Rufus, Fiona's dog, died at Easter"),
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
    ("My landlord is called Mr. Osei", "Mr. Osei is my landlord"),
    ("Paul is married to Ingrid", "Paul's wife is Ingrid"),
    ("The rabbit weighs 2 kilograms", "The rabbit's weight is two kilos"),
    ("The stand-up is at 3 pm", "The stand-up is at 15:00"),
    ("User can't swim", "User is unable to swim"),
    ("Two engineers founded the company in 1974", "The company was founded by two engineers in 1974"),
    ("Lake Garda is the largest lake in Italy", "Italy's biggest lake is Lake Garda"),
    ("User's date of birth is 9 November 1988", "User was born on 9 November 1988"),
]

CONTESTED = [
    ("User lives in Lisbon", "User lives in Alfama"),
    ("User lives in Lisbon", "User moved to Kubernetes"),
    ("User works at Acme", "User joined Mensa"),
    ("User works as a nurse", "User works as a volunteer firefighter"),
    ("User was born in Portugal", "User was born in Porto"),
    ("The shop is owned by Ann", "The shop is owned by Ben"),
    ("The train leaves at 8:00", "The train leaves at 9:00"),
    ("My manager is Ana", "My manager is Ana Ruiz"),
]

APART = [
    # another subject, another attribute
    ("User lives in Lisbon", "User's sister lives in Porto"),
    ("User's car is a Volvo", "User's wife's car is a Tesla"),
    ("User weighs 80 kg", "User's suitcase weighs 20 kg"),
    ("The price for members is 10 euros", "The price for guests is 15 euros"),
    ("The default port is 8080", "The default user is admin"),
    # scope
    ("No emojis.", "No emojis in commit messages"),
    ("No swearing in code", "No swearing in emails"),
    ("The timeout is 30 s", "The timeout is 10 s in staging"),
    ("User prefers aisle seats", "User prefers aisle seats on long flights"),
    ("The shop opens at 9:00", "The shop opens at 10:00 on Sundays"),
    ("User gets up at 6:30", "User gets up at 9 at the weekend"),
    ("User moved to Porto for the summer", "User lives in Lisbon"),
    # tense, plans, hearsay
    ("User lives in Lisbon", "User lived in Porto"),
    ("User lives in Lisbon", "User wants to move to Porto"),
    ("User lives in Lisbon", "User will move to Porto in May"),
    ("User works at Acme", "User almost quit Acme"),
    ("User's wife is Eva", "User's former wife is Ana"),
    # several hold together
    ("User likes tea", "User likes coffee"),
    ("User's son is Tom", "User's son is Ben"),
    ("User is a nurse", "User is a volunteer firefighter"),
    ("The issue is latency", "The issue is memory"),
    ("User has a dog named Rex", "User has a dog named Bello"),
    # another sort of value
    ("The limit is 10 MB", "The limit is 10 requests per second"),
    ("The album was recorded in Berlin", "The album was recorded in 1977"),
    ("User's birthday is March 3", "User's birthday is on Friday"),
    ("The deadline is June 1", "The deadline is tight"),
    ("The default branch is main", "The default branch is protected"),
    ("User's manager is Bob", "User's manager is not happy"),
    # something else ended
    ("User likes the Volvo", "User sold the Volvo"),
    ("User owns a house in Spain", "User sold the house"),
    ("Sofia keeps her flat in Paris", "Sofia sold her flat in Nice"),
    ("We use Redis for queues", "We removed the Redis cache"),
    ("I wait for the bus", "I stopped taking the bus"),
    ("User drives a car", "User stopped the car"),
    ("User works at Acme", "User's brother left Acme"),
    # it says more
    ("User works at Acme", "User works at Acme and paints"),
    ("User moved to Porto", "User moved to Porto last spring"),
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


@pytest.mark.parametrize(("relation", "old", "new"), CASES)
def test_a_new_statement_relates_to_a_stored_one(relation: Relation, old: str, new: str) -> None:
    assert compare(read_statement(old), read_statement(new))[0] is relation


@pytest.mark.parametrize(("relation", "old", "new"), [case for case in CASES if case[0] is not Relation.APART])
def test_frames_that_meet_share_a_lookup(relation: Relation, old: str, new: str) -> None:
    """A store finds the old memory by name, by slot, or by subject and value: without one of them they never meet."""
    _, former, later = compare(read_statement(old), read_statement(new))
    assert former is not None and later is not None
    assert former.name == later.name or former.slot == later.slot or former.subject_value == later.subject_value


@pytest.mark.parametrize(("old", "new"), [*APART, *CONTESTED])
def test_what_stays_apart_does_so_in_both_orders(old: str, new: str) -> None:
    relation = compare(read_statement(new), read_statement(old))[0]
    assert relation in (Relation.APART, Relation.CONTESTED)


def test_a_promotion_changes_the_role_and_leaves_the_employer() -> None:
    promoted = read_statement("Rhys was promoted to lab manager at Fenwick Labs")
    assert compare(read_statement("Rhys's position is junior chemist"), promoted)[0] is Relation.CHANGED
    assert compare(read_statement("Rhys works at Fenwick Labs"), promoted)[0] is Relation.APART


def test_nothing_meets_what_was_not_read() -> None:
    assert compare((), read_statement("User lives in Porto")) == (Relation.APART, None, None)
