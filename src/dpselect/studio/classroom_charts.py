"""Three laws side by side, and what one more vote changes: the logarithms of the ratios, inside the band."""

from __future__ import annotations

from dpselect.exact.rounding import short_decimal
from dpselect.studio.charts import Chart
from dpselect.studio.classroom import Lesson, NamedLaw, log_ratio
from dpselect.studio.svg import Piece, box, chained, element, picture

LABEL_WIDTH, LAWS_WIDTH, ROOM_RIGHT = 100, 360, 54
BAR_HEIGHT, BAR_GAP, LAWS_TOP = 13, 14, 8
"""Sizes in units of the picture, which are pixels unless the page stretches it."""
MINUS_SIGN = "\N{MINUS SIGN}"
LONGEST_BAR_LABEL, END_OF_A_LABEL = 11, 3
"""Characters of a name beside a bar, and how many of them are its last; the table has it whole."""


def laws_chart(lesson: Lesson) -> Chart:
    """Draw the chance of each candidate under each mechanism; a tick says where one more vote moves it."""
    laws = lesson.laws()
    after = lesson.laws(neighbour=True) if lesson.more is not None else None
    step = BAR_HEIGHT * len(laws) + BAR_GAP
    height = LAWS_TOP + step * len(lesson.names)
    room = LAWS_WIDTH - LABEL_WIDTH - ROOM_RIGHT
    pieces: list[Piece] = []
    for place, name in enumerate(lesson.names):
        top = LAWS_TOP + place * step
        pieces.append(_label(name, top + BAR_HEIGHT * len(laws) / 2 + 4))
        for number, law in enumerate(laws):
            share, y = law.probabilities[place], top + number * BAR_HEIGHT
            pieces.append(box(LABEL_WIDTH, y, max(share * room, 0.5), BAR_HEIGHT - 2, f"bar {law.class_}"))
            end = share
            if after is not None:
                moved = after[number].probabilities[place]
                end = max(share, moved)
                pieces.append(box(LABEL_WIDTH + moved * room - 1, y - 1, 2, BAR_HEIGHT, "moved"))
            text = _percent(share)
            pieces.append(
                element("text", text, class_="tick", x=LABEL_WIDTH + end * room + 6, y=y + BAR_HEIGHT - 3)
            )
    best = max(range(len(lesson.names)), key=lambda i: lesson.scores[i])
    chances = ", ".join(f"{_percent(law.probabilities[best])} with {law.called}" for law in laws)
    says = f"{lesson.names[best]} wins in {chances}."
    legend = [(law.class_, law.name) for law in laws]
    if after is not None and lesson.more is not None:
        legend.append(("moved", "with one more vote"))
    return Chart(
        title="Who wins, how often",
        says=says,
        picture=picture("laws", "Who wins, how often", says, (LAWS_WIDTH, height), pieces),
        legend=tuple(legend),
        headings=("name", "votes", *(law.name for law in laws)),
        rows=tuple(
            (name, short_decimal(lesson.scores[i]), *(_percent(law.probabilities[i]) for law in laws))
            for i, name in enumerate(lesson.names)
        ),
    )


def ratio_chart(lesson: Lesson) -> Chart | None:
    """Draw how much likelier each answer becomes with one more vote; None if there is no neighbour."""
    if lesson.more is None:
        return None
    laws, after = lesson.laws(), lesson.laws(neighbour=True)
    step = 10 * len(laws) + 10
    height = LAWS_TOP + step * len(lesson.names) + 40
    bottom = height - 40
    epsilon = float(lesson.epsilon)
    middle = (LABEL_WIDTH + LAWS_WIDTH - 20) / 2
    reach = (LAWS_WIDTH - 20 - LABEL_WIDTH) / 2 / 1.35

    pieces = [box(middle - reach, 0, 2 * reach, bottom, "band")]
    for place, sign in ((-1, MINUS_SIGN), (0, ""), (1, "+")):
        x = middle + place * reach
        pieces.append(element("line", class_="grid" if place else "axis", x1=x, x2=x, y1=0, y2=bottom))
        text = f"{sign}{short_decimal(lesson.epsilon)}" if place else "0"
        pieces.append(element("text", text, class_="tick", x=x, y=bottom + 16, text_anchor="middle"))
    name = "logarithm of the ratio, between -epsilon and +epsilon".replace("-", MINUS_SIGN)
    pieces.append(element("text", name, class_="name", x=LAWS_WIDTH / 2, y=height - 5, text_anchor="middle"))
    rows: list[tuple[str, ...]] = []
    for place, label in enumerate(lesson.names):
        top = LAWS_TOP + place * step
        pieces.append(_label(label, top + step / 2 - 1))
        cells, drawn = list[str](), False
        for number, (before, moved) in enumerate(zip(laws, after, strict=True)):
            found = log_ratio(before.probabilities[place], moved.probabilities[place])
            cells.append("next to never" if found is None else f"{found:+.3f}".replace("-", MINUS_SIGN))
            if found is not None:
                drawn = True
                x, y = middle + found / epsilon * reach, top + 8 + number * 10
                pieces.append(element("line", class_=f"stem {before.class_}", x1=middle, x2=x, y1=y, y2=y))
                pieces.append(element("circle", class_=f"bar {before.class_}", cx=x, cy=y, r=4))
        if not drawn:
            place_of_text = {"x": middle + 8, "y": top + step / 2 - 1}
            pieces.append(
                element("text", "next to never", class_="tick", text_anchor="start", **place_of_text)
            )
        rows.append((label, *cells))
    says = (
        f"With one more vote for {lesson.names[lesson.more]}, no answer becomes more than "
        f"e to the power of {short_decimal(lesson.epsilon)} times likelier or rarer."
    )
    return Chart(
        title="What one vote can change",
        says=says,
        picture=picture("ratios", "What one vote can change", says, (LAWS_WIDTH, height), pieces),
        legend=(*((law.class_, law.name) for law in laws), ("band", "what epsilon allows")),
        headings=("name", *(law.name for law in laws)),
        rows=tuple(rows),
    )


def error_rows(laws: list[NamedLaw]) -> list[tuple[str, str, str]]:
    """Give for each mechanism its class, its name, and how many votes its winner is behind on average."""
    return [(law.class_, law.name, f"{law.expected_error:.3g}") for law in laws]


def _label(name: str, y: float) -> Piece:
    begin = LONGEST_BAR_LABEL - END_OF_A_LABEL - 1
    short = name if len(name) <= LONGEST_BAR_LABEL else f"{name[:begin]}…{name[-END_OF_A_LABEL:]}"
    return chained([element("text", short, class_="label", x=LABEL_WIDTH - 8, y=y, text_anchor="end")])


def _percent(share: float) -> str:
    """Write a chance of public scores, with one digit after the point."""
    if share >= 0.9995:
        return "> 99.9 %" if share < 1 else "100 %"
    return f"{100 * share:.1f} %" if share >= 0.001 else "< 0.1 %"
