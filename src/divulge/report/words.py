"""The words that every document shares: what verdicts mean, what numbers do not prove, and the glossary."""

from __future__ import annotations

__all__ = [
    "GLOSSARY",
    "LIMITS",
    "ONE_TABLE",
    "ROWS_RISK",
    "RULER",
    "SEVERAL_TABLES",
    "UNFAIR",
]

RULER = (
    "The ruler is the distance from the real table over that of a fresh sample: other people of the same population, "
    "as many as there are synthetic rows. 0 is a copy of the counts, 1 is a fresh sample, and more is worse. There is "
    "no grade."
)
"""How to read fidelity."""

UNFAIR = (
    "A precondition fails without which strangers are no fair comparison with members, so that nothing follows either "
    "way: an excess may be there or not, and more people would not decide it. Mend the tables or the split, and run "
    "again."
)
"""What "cannot tell" means when members and strangers cannot be compared."""

ONE_TABLE = (
    "One synthetic table was attacked. Further tables from the same model add to what is known, and the model itself "
    "was not attacked."
)
SEVERAL_TABLES = (
    "The rows of several synthetic tables were attacked together. Further tables from the same model add to what is "
    "known, and the model itself was not attacked."
)
LIMITS = (
    "Only the attacks named here were run. Another attack, or one that knows more, may do better.",
    "The verdict “none found” bounds the primary comparisons and no other. A screened comparison could have found an "
    "excess; where it did not, the risk may still be as large as its own upper limit.",
    "Comparisons of whole rows leave out identifiers, the unit and ignored columns; distances leave out free text as "
    "well. A column of texts, or one in which hardly anybody shares a value, is compared on its own: by equal values, "
    "in other spellings, and texts also by eight equal words in a row and by words that one person alone has, so that "
    "texts reworded without these do not show. An ignored column of shared values, and a column that the holdout "
    "lacks, is compared with no stranger.",
    "No tool can list all that a table may hold: values computed from a person's values, ciphers, and what a text "
    "means, as in other words or another language. Nothing here compares these, and nothing here bounds them.",
    "A verdict is about the average over the people attacked, except where the sentence names one person whose record "
    "is repeated. Single people can be exposed where the average shows nothing: the custodian's edition counts the "
    "members whose whole record stands in the synthetic table, and lists those who stand out, without an interval.",
    "The comparison holds as far as the holdout people come from the same population as the real ones and were never "
    "seen by the synthesizer. The preconditions look for signs of the contrary. They cannot prove it, and where a "
    "table is too coarse or too small to show a sign they say that it was not tested.",
    "What the attack learns about strangers too is learnt about the population. It is no disclosure in the sense of "
    "this page, and it can still harm people.",
    ONE_TABLE,
    "Where no column tells people apart (--unit), each row counts as a person.",
    "The acceptable risk was chosen by whoever ran the assessment. It is no legal limit.",
    "This page is evidence for a decision. It is no certificate.",
)
"""What the numbers do not prove."""


ROWS_RISK = (
    "Where synthetic rows are counted (dcr and its kin), the rates are shares of all synthetic rows, by whether the "
    "nearest person is a member or a stranger, and the risk is the fraction of synthetic rows that are copied: the "
    "members' share less what they would attract without a leak, over the share of people who are strangers."
)
"""What rates and risk mean for measures that count synthetic rows."""

GLOSSARY = (
    ("acceptable risk", "the largest upper limit of risk that counts as none found; chosen before the run."),
    ("actor", "one of several attackers of the schema file, with columns that it knows and wants; a run without actors "
     "has one attacker."),
    ("attribution", "learning the target of a person from keys; CAP is the chance that a synthetic record with the "
     "same keys has the person's target."),
    ("baseline", "the rate of an attacker without the synthetic table; elsewhere: naive rate."),
    ("deficit", "an excess below 0: rows near to members are missing, and absence tells who is a member."),
    ("disclosure", "what the table tells about its own people beyond what it tells about strangers."),
    ("excess", "rate of members minus rate of strangers; in membership inference: advantage."),
    ("fact", "a count that holds whatever a test says, such as how many members' whole records stand in the synthetic "
     "table."),
    ("holdout", "people of the same population whom the synthesizer never saw, the strangers; elsewhere: control, test "
     "or reference data."),
    ("inference", "what patterns of the population tell about anybody, members and strangers alike."),
    ("interval", "a range that contains the true number in the stated share of repetitions; those called simultaneous "
     "hold for all comparisons of an attack together."),
    ("key", "a column whose value the attacker knows; elsewhere: quasi-identifier, auxiliary data."),
    ("leak-free band", "where the risks of one attack lie, all together, if members are hit as often as strangers."),
    ("member", "a person in the real table; the word of membership inference, too."),
    ("primary comparison", "one that was fixed before the run, by the catalogue or by the user's own keys and targets; "
     "its upper limit of risk must be at most the acceptable one before the run says none found; in trials: primary "
     "endpoint."),
    ("positive control", "copies of real people planted on purpose, to see whether the run notices them."),
    ("real table", "the table that the synthesizer was trained on; elsewhere: training data, original data."),
    ("risk", "the excess as a share of what could still go wrong for strangers: 0 is no more than strangers have, 1 is "
     "everybody."),
    ("screened", "of a comparison that can find something, corrected for all of them, and that bounds nothing."),
    ("score", "100 (1 - upper limit of risk, divided by the part of a full copy that would show), between 0 and 100; "
     "100 is least risk. Where a deficit was found, 100 (1 - the size of the lower limit)."),
    ("stranger", "a person of the holdout; elsewhere: non-member, control."),
    ("target", "a column that the attacker wants to learn; elsewhere: secret, sensitive attribute."),
    ("unit", "the column that says which rows belong to one person or household."),
)  # fmt: skip
"""The terms of the report, defined."""
