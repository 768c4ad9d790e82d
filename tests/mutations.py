"""Changes of a report, one at a time: a digit, a verdict, a sentence, a policy, an order; each written as divulge writes."""

import copy
import re

VERDICTS = ("excess found", "deficit found", "none found", "cannot tell")


def leaves(value, place=()):
    """Yield the place of each text, number and truth value."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*place, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from leaves(item, (*place, i))
    elif value is not None:
        yield place


def lists(value, place=()):
    """Yield the place of each list with two entries that differ."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from lists(item, (*place, key))
    elif isinstance(value, list):
        if len(value) > 1 and any(v != value[0] for v in value):
            yield place
        for i, item in enumerate(value):
            yield from lists(item, (*place, i))


def at(value, place):
    for key in place:
        value = value[key]
    return value


def kind_of(place):
    """Return the kind of a place: its path without positions, and without names that are the run's own."""
    own = {"context", "settings", "curves", "versions", "numbers", "attacks"}
    path = []
    for i, key in enumerate(place):
        if isinstance(key, int):
            continue
        path.append("*" if i and place[i - 1] in own and place[:1] != ("settings",) else key)
    return ".".join(path)


def changed_number(value, rng):
    """Return a number with one of its digits changed."""
    text = repr(value)
    digits = [m.start() for m in re.finditer(r"\d", text.partition("e")[0])][:8]
    for _ in range(20):
        i = digits[rng.integers(len(digits))]
        new = text[:i] + str(rng.integers(10)) + text[i + 1 :]
        try:
            made = type(value)(new)
        except ValueError:
            continue
        if made != value:
            return made
    return value + 1


def changed_text(text, rng):
    """Return a text with a digit changed, or a word left out."""
    if found := [m.start() for m in re.finditer(r"\d", text)]:
        i = found[rng.integers(len(found))]
        return text[:i] + str((int(text[i]) + 1 + rng.integers(8)) % 10) + text[i + 1 :]
    words = text.split(" ")
    if len(words) < 2:
        return text + "x"
    i = rng.integers(len(words))
    return " ".join(words[:i] + words[i + 1 :])


def mutations(report, n, rng):
    """Yield kind of change, kind of place, and the changed report, n times."""
    everywhere = list(leaves(report))
    by_kind = {}
    for place in everywhere:
        by_kind.setdefault(kind_of(place), []).append(place)
    kinds, rows = sorted(by_kind), list(lists(report))
    for _ in range(n):
        made = copy.deepcopy(report)
        if rng.random() < 0.15:
            place = rows[rng.integers(len(rows))]
            given = at(made, place)
            i = next(
                i
                for i in rng.permutation(len(given) - 1).tolist() + list(range(len(given) - 1))
                if given[i] != given[i + 1]
            )
            given[i], given[i + 1] = given[i + 1], given[i]
            yield "order", kind_of(place), made
            continue
        # half of them by kind of place, so that rare kinds are met, half by place
        pool = by_kind[kinds[rng.integers(len(kinds))]] if rng.random() < 0.5 else everywhere
        place = pool[rng.integers(len(pool))]
        inside, key = at(made, place[:-1]), place[-1]
        value = inside[key]
        if isinstance(value, bool):
            inside[key], kind = not value, "truth"
        elif isinstance(value, int | float):
            inside[key], kind = changed_number(value, rng), "digit"
        elif value in VERDICTS:
            inside[key], kind = next(v for v in rng.permutation(VERDICTS).tolist() if v != value), "verdict"
        else:
            inside[key], kind = changed_text(value, rng), "text"
        yield kind, kind_of(place), made


def what_was_changed(what, place):
    """Return the kind of a change, as the page on verifying counts them."""
    if place.split(".")[0] == "policy":
        return "policy result"
    if what == "text":
        return "sentence" if place.endswith("sentence") or place.startswith("summary") else "other text"
    return {"truth": "yes or no"}.get(what, what)
