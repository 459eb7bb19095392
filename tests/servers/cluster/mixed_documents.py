"""A corpus of many formats, drawn from invented words, so that each query has answers of its own; the same at every run."""

from __future__ import annotations

import io
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from zipfile import ZipFile, ZipInfo

from reportlab.pdfgen.canvas import Canvas


def words(text: str) -> list[str]:
    """A list, written as people write one."""
    return text.split()


TEXTS, PAGES, FILES, SESSIONS, TURNS = 191, 75, 13, 10, 19
TOWNS = ["Oosterend", "Marken", "Skagen", "Lerwick", "Visby", "Nolsoy", "Hiddensee", "Rauma", "Vardo", "Heimaey"]
PEOPLE = ["Maria Smit", "Jonas Halle", "Petra Lund", "Iain Gunn", "Tove Berg", "Salla Niemi", "Hanne Dahl", "Oskar Wolff"]
THINGS = words(
    "bridge harbour lighthouse orchard bakery ferry windmill library chapel workshop greenhouse cellar "
    "quarry dyke market school observatory shipyard brewery tannery"
)
DEEDS = words(
    "repaired painted measured closed flooded sold inherited surveyed abandoned restored insured "
    "photographed rented emptied fortified moved opened numbered heated drained"
)
TRAITS = words("copper slate larch granite moss brass velvet amber chalk tar linen pewter cedar basalt ivory wool clay glass cork iron")
CAUSES = words(
    "storm drought auction wedding strike eclipse plague harvest flood festival lawsuit famine regatta "
    "blizzard earthquake election fire treaty pilgrimage census"
)

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/"
MEDIA = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
TYPES = (
    f'<?xml version="1.0"?><Types xmlns="{PACKAGE}content-types"><Default Extension="xml" ContentType="application/xml"/>'
    f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{MEDIA}"/></Types>'
)
RELATIONS = (
    f'<?xml version="1.0"?><Relationships xmlns="{PACKAGE}relationships">'
    f'<Relationship Id="r1" Type="{OFFICE}officeDocument" Target="word/document.xml"/></Relationships>'
)


@dataclass(frozen=True, slots=True)
class Content:
    """One document: its name, which no other has, its bytes, and what is told about it."""

    name: str
    data: bytes
    container: str
    tags: Sequence[str] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)


def corpus() -> list[Content]:
    """Five hundred of them; the turns of a session in their order."""
    draw = random.Random(500)
    made = [*texts(draw), *pages(draw), *files(draw), *samples()]
    draw.shuffle(made)
    made += turns(draw)
    assert len({each.name for each in made}) == len(made) == 500
    return made


def queries() -> list[dict[str, object]]:
    """Searches by words, names, questions and wishes, some within containers, tags, metadata and kinds."""
    draw = random.Random(50)
    made: list[dict[str, object]] = []
    for number in range(50):
        town, who, thing, deed = draw.choice(TOWNS), draw.choice(PEOPLE), draw.choice(THINGS), draw.choice(DEEDS)
        trait, cause = draw.choice(TRAITS), draw.choice(CAUSES)
        asked = (
            f"Who {deed} the {thing} in {town}?",
            f"{trait} {thing}",
            f"What did {who} do after the {cause}?",
            f"the place where people of {town} waited during the {cause}",
            f"an old building made of {trait} that somebody {deed}",
        )[number % 5]
        narrowed: dict[str, object] = {}
        if number % 6 == 1:
            narrowed = {"container": draw.choice(["mixed.north", "mixed.*", "talks"])}
        elif number % 6 == 3:
            narrowed = {"filters": {"tags": [draw.choice(["red", "blue"])]}}
        elif number % 6 == 5:
            narrowed = {"filters": {"metadata": {"town": town}}}
        made.append({"query": asked, "limit": 10, **narrowed})
    return made


def texts(draw: random.Random) -> list[Content]:
    """Plain text and Markdown, from a sentence to several passages."""
    made = []
    for number in range(TEXTS):
        town, container = draw.choice(TOWNS), draw.choice(["mixed.north", "mixed.south", "notes"])
        body = paragraphs(draw, town, 1 + number % 4)
        is_markdown = number % 3 == 0
        data = f"# The {draw.choice(THINGS)} of {town}\n\n{body}" if is_markdown else body
        about = {"town": town, "year": 1900 + number % 90}
        made.append(
            Content(f"text{number}.{'md' if is_markdown else 'txt'}", data.encode(), container, [draw.choice(["red", "blue"])], about)
        )
    return made


def pages(draw: random.Random) -> list[Content]:
    """HTML with headings."""
    made = []
    for number in range(PAGES):
        town = draw.choice(TOWNS)
        body = "".join(f"<h2>{draw.choice(THINGS).title()}</h2><p>{paragraphs(draw, town, 1)}</p>" for _ in range(1 + number % 3))
        page = f"<html><head><title>{town} in {1800 + number}</title></head><body><h1>{town}</h1>{body}</body></html>"
        made.append(Content(f"page{number}.html", page.encode(), "mixed.north", ["blue"], {"town": town}))
    return made


def files(draw: random.Random) -> list[Content]:
    """PDF, DOCX and source code."""
    made = []
    for number in range(FILES):
        town = draw.choice(TOWNS)
        made.append(Content(f"sheet{number}.pdf", pdf([sentence(draw, town) for _ in range(12)]), "mixed.south", ["red"], {"town": town}))
        made.append(Content(f"letter{number}.docx", docx(town, paragraphs(draw, town, 2)), "notes", ["blue"], {"town": town}))
        code = f'"""{sentence(draw, town)}"""\n\n\ndef {draw.choice(THINGS)}_{number}(size: int) -> int:\n    return size * {number}\n'
        made.append(Content(f"tool{number}.py", code.encode(), "notes"))
    return made


def samples() -> list[Content]:
    """The files that come with eunoe."""
    folder = resources.files("eunoe_standalone.demo") / "samples"
    found = sorted(each.name for each in folder.iterdir() if each.is_file())
    return [Content(name, (folder / name).read_bytes(), "notes") for name in found if not name.startswith("__")]


def turns(draw: random.Random) -> list[Content]:
    """Conversations."""
    made = []
    for session in range(SESSIONS):
        town, two = draw.choice(TOWNS), draw.sample(PEOPLE, 2)
        for position in range(TURNS):
            told = f"Did you hear about {town}?" if position == 0 else sentence(draw, town)
            about = {"session": f"s{session}", "position": position, "speaker": two[position % 2], "date": f"{1 + session} May 2024"}
            made.append(Content(f"turn{session}-{position}.txt", told.encode(), "talks", [], about))
    return made


def paragraphs(draw: random.Random, town: str, count: int) -> str:
    """Text of so many paragraphs."""
    return "\n\n".join(" ".join(sentence(draw, town) for _ in range(draw.randint(2, 7))) for _ in range(count))


def sentence(draw: random.Random, town: str) -> str:
    """One that names somebody, something and why."""
    who, thing, deed = draw.choice(PEOPLE), draw.choice(THINGS), draw.choice(DEEDS)
    trait, cause = draw.choice(TRAITS), draw.choice(CAUSES)
    return draw.choice(
        (
            f"{who} {deed} the {trait} {thing} of {town} after the {cause}.",
            f"Before the {cause} of {draw.randint(1700, 1999)}, the {thing} in {town} was {deed} by {who}.",
            f"Nobody in {town} remembers why the {thing} was {deed}, but the {trait} walls tell of the {cause}.",
            f"The {cause} brought {draw.randint(2, 900)} strangers to the {trait} {thing} near {town}.",
        )
    )


def pdf(lines: Sequence[str]) -> bytes:
    """A page."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=True)
    for number, line in enumerate(lines):
        canvas.drawString(50, 780 - 20 * number, line)
    canvas.save()
    return buffer.getvalue()


def docx(title: str, body: str) -> bytes:
    """A letter; without times, so that its bytes are the same at every run."""
    told = "".join(f"<w:p><w:r><w:t>{each}</w:t></w:r></w:p>" for each in (title, *body.split("\n\n")))
    document = f'<?xml version="1.0"?><w:document xmlns:w="{WORD}main"><w:body>{told}</w:body></w:document>'
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, part in (("[Content_Types].xml", TYPES), ("_rels/.rels", RELATIONS), ("word/document.xml", document)):
            archive.writestr(ZipInfo(name), part)
    return buffer.getvalue()
