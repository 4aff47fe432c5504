"""Turns of phrase that no text of this project uses, as data: why, and what to write instead.

A newcomer whose first language is not English reads each of these sentences twice. Patterns are
precise rather than broad: each has sentences that it finds, and similar ones that it accepts.
Words in backticks are names and do not count. Questions may begin with "Who" and "What", and so
may headings.
"""

import re
from dataclasses import dataclass
from functools import cached_property

NAME = re.compile(r"`[^`\s]*`")
OPENING = r"^[\"'(*]*"  # of a sentence
NO_QUESTION = r"(?!.*\?)"
OWNERS = ("its ", "their ", "your ", "our ", "my ", "her ", "his ", "'s ", "s' ", "’s ", "s’ ")
NO_OWNER = "".join(f"(?<!{word})" for word in OWNERS)


@dataclass(frozen=True)
class Turn:
    """A turn: a pattern, what is wrong with it, and what to write.

    words: one of them is in each sentence with the turn, in lower case unless `case` says that
    upper and lower case differ. found: sentences with it. fine: similar ones that are correct.
    """

    words: tuple[str, ...]
    pattern: str
    why: str
    instead: str
    found: tuple[str, ...]
    fine: tuple[str, ...]
    case: bool = False

    @cached_property
    def regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern, 0 if self.case else re.IGNORECASE)

    def match(self, text: str) -> re.Match[str] | None:
        """Where a sentence without names has the turn; None if it does not."""
        plain = text if self.case else text.lower()
        return self.regex.search(text) if any(word in plain for word in self.words) else None


TURNS = (
    Turn(
        ("Who",),
        rf"{OPENING}(Who|Whom|Whose)\b{NO_QUESTION}",
        'a relative clause needs a noun to refer to, and "who" refers to nobody',
        "a noun that acts: 'A function that takes pages …', 'A target that …'",
        ("Who takes pages has them read.", "(Who packs may have pages.)"),
        ("Who may attend to whom?", "A person who packs.", "## Who may report a bug"),
        case=True,
    ),
    Turn(
        ("What",),
        rf"{OPENING}What\b{NO_QUESTION}",
        'a sentence begins with a noun, its subject, and "what" names nothing',
        "a noun: 'The text that your code prints …'; in a docstring 'Return …', 'The … that …'",
        ("What is wrong is said in one line.", "**What is not known**: all of it."),
        ("What is attention?", "## What a failure looks like", "It says what is wrong."),
        case=True,
    ),
    Turn(
        ("That of", "Those of"),
        rf"{OPENING}(That|Those) of\b",
        "nothing before it says which thing is meant",
        "the noun again: 'The error bound of dq'",
        ("That of dq.", "Those of keys are used."),
        ("The error is far above that of float64.", "Only those of keys are used."),
        case=True,
    ),
    Turn(
        ("former", "latter"),
        r"\bthe (former|latter)\b",
        "the reader has to count back",
        "the noun again",
        ("The former hides a key.", "Of q and k, the latter is padded."),
        ("The formerly hidden key.",),
    ),
    Turn(
        ("told",),
        r"\b(is|are|was|were|be|been|being) (not )?told\b",
        "nobody speaks: programs infer, report, or get arguments",
        "is inferred from, is detected by, is reported; gets, takes, is called with",
        ("A function is told where sequences start.", "It is not told of pages."),
        ("told: the rate.", "It told us."),
    ),
    Turn(
        ("told",),
        r"\btold (from|apart|by)\b",
        "an old word for it",
        "inferred from, distinguished from, detected by",
        ("The library, told from its imports.", "Weights told apart."),
        ("Nothing can tell them apart.",),
    ),
    Turn(
        ("asked",),
        r"\b(is|are|was|were) (not )?asked\b(?! for\b)",
        "nobody asks: the tool calls, tests or runs",
        "is called with, is tested on, is run; is required",
        ("It is asked in few shapes.", "Other options are not asked."),
        ("The weights are asked for.",),
    ),
    Turn(
        ("said",),
        r"\b(is|are|was|were) said\b",
        "the report, the convention or the caller says it, and should be named",
        "is reported, is stated, is declared, is given",
        ("It is said in one line.",),
        ("The certificate says so.",),
    ),
    Turn(
        ("beside",),
        r"\bbesides?\b(?!:)",
        'an old word for "in addition to", and unclear for "next to"',
        "in addition to; together with; other than; next to",
        ("A mask beside causality.", "Besides, it has pages."),
        ("`beside` has other functions.", "beside: other functions."),
    ),
    Turn(
        ("own",),
        rf"{NO_OWNER}\bown\b(?! ?[:|])",
        "it is unclear whose",
        "its own, their own, a … of its own; or nothing at all",
        ("It has own names.", "The options own to a layer."),
        ("Its own names.", "The layers' own names.", "A name of its own.", "own |Z|"),
    ),
    Turn(
        ("whoever",),
        r"\bwhoever\b",
        "an old word, and it makes persons of programs",
        "a function that …; anyone who …",
        ("Whoever cuts keys rounds twice.", "It is the same for whoever calls."),
        ("Anyone who calls it.",),
    ),
    Turn(
        ("as it ", "as they "),
        r"\bas (it|they) (lies|lie)\b",
        "a foreign turn",
        "in its memory layout, unchanged",
        ("An array as it lies.", "Arrays, as they lie in memory."),
        ("A page lies behind it.", "The array is used as it is."),
    ),
    Turn(
        ("do so",),
        r"\b(made|makes?) (it |them )?(to )?do so\b",
        "a foreign turn",
        "the verb again: 'The suite checks that it rejects them'",
        ("The suite makes it do so.", "It is made to do so."),
        ("A file may do so.",),
    ),
    Turn(
        ("by the look",),
        r"\bby the looks? of\b",
        "a foreign turn",
        "detected",
        ("A layer, by the look of it.",),
        ("Sorted by the layout.",),
    ),
    *(
        Turn((old,), rf"\b{old}\b", "an old word", instead, (found,), (fine,))
        for old, instead, found, fine in (
            ("anew", "again", "All are judged anew.", "A new one."),
            ("lest", "so that … not", "It waits lest it breaks.", "The least of them."),
            ("at a stroke", "at once", "It is read at a stroke.", "A stroke of luck."),
            ("meanwhile", "during this time", "Meanwhile it waits.", "All the while."),
            ("no good", "invalid, wrong", "The target is no good.", "No goods."),
            ("cannot but", "must, always", "It cannot but fail.", "It cannot, but it may."),
        )
    ),
)


def found(sentence: str) -> list[tuple[Turn, re.Match[str]]]:
    """The turns that a sentence has, each with its position."""
    plain = NAME.sub(lambda name: "`" * len(name.group()), sentence)
    return [(turn, match) for turn in TURNS if (match := turn.match(plain))]
