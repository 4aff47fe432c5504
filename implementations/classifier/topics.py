"""The words of the five topics: nouns, verbs and adjectives, some of them shared.

Many words belong to two topics ("pitch", "score", "string", "front", "stock", "platform"), so that
no single word decides the topic of a text. The words of SHARED belong to all topics.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Words(NamedTuple):
    """The words of a topic, or those that all topics share."""

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    adjectives: tuple[str, ...]


def words(nouns: str, verbs: str, adjectives: str) -> Words:
    """Return three lists of words, each from one line of text."""
    return Words(*(tuple(text.split()) for text in (nouns, verbs, adjectives)))


TOPICS: Mapping[str, Words] = {
    "weather": words(
        """cloud storm front wind gust rain drizzle shower hail snow frost fog mist thunder
        lightning forecast pressure temperature barometer flood drought breeze blizzard thaw
        humidity sky ridge current wave coast station season record degree warning scale bow ice""",
        """rained froze thawed gusted drifted cleared dropped rose gathered broke flooded cooled
        warmed swept threatened passed lifted blew settled""",
        "wet dry mild frosty stormy overcast humid icy windy bright severe freezing damp calm",
    ),
    "railway": words(
        """train engine carriage platform station track signal driver conductor ticket timetable
        freight tunnel bridge junction whistle brake wagon sleeper passenger compartment depot
        express siding rail gauge boiler steam coal guard line stock switch coach current
        pressure route service""",
        """departed arrived stopped shunted coupled braked carried switched crossed whistled
        signalled hauled derailed waited passed boarded steamed reversed delayed""",
        "late punctual crowded electric narrow southern northern rural regular heavy single",
    ),
    "kitchen": words(
        """oven pan knife recipe sauce butter flour sugar salt pepper onion garlic dough stock
        broth pastry spice herb lemon egg cream cheese bread roast kettle steam whisk bowl dish
        chef guest plate scale ice roll batter course service fish""",
        """baked boiled fried chopped stirred simmered seasoned kneaded poured tasted whipped beat
        grated peeled melted served cooled folded rose steamed""",
        "fresh salty sweet sour bitter creamy crisp tender raw ripe spicy warm golden thick",
    ),
    "orchestra": words(
        """violin cello flute oboe trumpet drum string bow conductor score melody chord rhythm
        symphony concert rehearsal overture audience soloist choir tempo pitch note scale
        instrument orchestra sonata harp horn stage movement tune composer baton ticket hall
        record key bridge""",
        """played tuned conducted rehearsed composed sang bowed performed applauded recorded beat
        plucked improvised arranged rose repeated practised""",
        "loud quiet solemn sharp flat slow lively minor major brassy harmonic tender grand bright",
    ),
    "football": words(
        """goal pitch match striker keeper defender referee whistle penalty score league cup crowd
        stadium coach player team header corner tackle foul pass season fan captain trophy derby
        net boot line substitute injury transfer half record stand draw guard""",
        """scored kicked tackled passed dribbled saved defended attacked headed won lost drew beat
        played substituted fouled trained crossed cleared""",
        "fast injured unbeaten offside young fierce clumsy late defensive narrow home single sharp",
    ),
}

SHARED: Words = words(
    """morning evening town street friend family letter story question answer house window door
    garden table chair paper hand voice year week day night hour road market school office
    reason problem idea plan word picture child neighbour visitor place part moment change
    work money help end start side""",
    """said thought heard saw remembered mentioned noticed expected explained wondered asked told
    liked forgot wanted needed found kept left moved turned opened closed followed reached
    believed""",
    "old new small large long short good bad early strange famous usual busy quiet second whole",
)

PLACES = ("in", "near", "behind", "before", "beside", "after", "under", "without", "beyond")
SYLLABLES = ("ba", "ren", "lo", "ti", "mar", "sel", "ko", "vin", "da", "ful", "ost", "ner")
