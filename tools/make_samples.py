"""Make the sample files of `eunoe demo`: a PDF with a table, DOCX, HTML, Markdown and a text of about 10,000 tokens.

Deterministic: running it again changes nothing. All content is invented.
"""

from __future__ import annotations

import random
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

SAMPLES = Path(__file__).resolve().parent.parent / "standalone" / "eunoe_standalone" / "demo" / "samples"
TEXT_CHARACTERS = 40_400
ZIP_TIME = (2026, 1, 1, 0, 0, 0)

MAINTENANCE = [
    ["Part", "Interval", "Who", "Note"],
    ["Main lamp", "every 90 days", "two keepers", "change both bulbs together"],
    ["Fog horn", "every 30 days", "one keeper", "test at noon only"],
    ["Lens gears", "every 12 months", "engineer", "use grease number four"],
    ["Spare generator", "every 14 days", "one keeper", "run for twenty minutes under load"],
]

CLOSING = (
    "Only the harbour master may close the harbour. In her absence the eldest pilot on duty decides, and writes the reason "
    "into the red book before the chain is raised."
)
BERTHS = (
    "Fishing boats lie on the north quay, visitors on the south quay. A visitor may stay for nine nights; after that the berth "
    "costs double."
)
RULES = [
    ("Heading1", "Rules of Skerry Harbour"),
    (None, "These rules hold for every vessel that enters the harbour between the two moles."),
    ("Heading2", "Closing the harbour"),
    (None, CLOSING),
    ("Heading2", "Berths"),
    (None, BERTHS),
    ("Heading2", "Signals"),
    (None, "Three short blasts mean that the chain is going up. One long blast means that a pilot is wanted."),
]

HTML = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Seabird Survey of the Outer Rocks</title>
<style>body { font-family: serif }</style><script>console.log("never indexed")</script></head>
<body><h1>Seabird Survey of the Outer Rocks</h1>
<p>Every spring two volunteers row to the outer rocks and count the nests of three species.</p>
<h2>Results</h2>
<ul><li>Storm petrels: 412 nests, most of them under the broken slabs.</li>
<li>Puffins: 96 burrows, eleven fewer than the year before.</li>
<li>Arctic terns: none; rats were seen on the landing place.</li></ul>
<h2>Method</h2>
<p>A nest counts when an adult sits on it or when there are eggs. The count stops when the wind passes force five.</p>
</body></html>
"""

MARKDOWN = """# Kitchen Notes of the Keepers' House

Remember that Ingrid is allergic to mussels.

## Bread

I prefer rye over wheat for the night watch. The dough rests for eleven hours in the cold pantry, so it must be made before
the evening signal.

## Stores

| What | Where | Enough for |
|---|---|---|
| Flour | dry cellar | 40 days |
| Lamp oil | stone shed | 120 days |
| Dried apples | attic | one winter |

## Decisions

We decided to buy the new stove from the foundry in Vardal, because its door can be mended on the island.

TODO: order chimney brushes before the first of October.
"""

WINDS = ("a light north wind", "a hard westerly", "no wind at all", "a cold wind from the east", "gusts out of the south")
SIGHTS = (
    "two trawlers passed the bar",
    "a pod of porpoises stayed an hour",
    "the mail boat came late",
    "a barge lost its tow and drifted",
    "nothing moved but the gulls",
    "a yacht asked for shelter by lamp",
    "the ferry crossed twice",
    "a line of geese went over",
)
WORKS = ("cleaned the lens", "painted the lower gallery", "split driftwood for the stove", "mended the stair rail", "wound the clockwork",
         "wrote to the lighthouse office", "checked the fog signal", "carried oil up in four trips")  # fmt: skip
KEEPERS = ("Ingrid", "Tomas", "Old Bjarne", "Salla", "the relief keeper")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
STORM = (
    "On the night of the great storm Salla saw a green light burning on the water where no ship lay. It went from west to east against "
    "the wind, stood still for as long as it takes to say a prayer, and sank. In the morning a cask with a brass compass lay on the slip."
)


def logbook() -> str:
    """About 40,400 characters of log entries, one paragraph a day, with the storm in the middle."""
    draw = random.Random(20260101)  # noqa: S311 - sample text, nothing secret
    parts = ["Log of the Skerry Light\n\nKept by the keepers of the light, one entry a day, weather first."]
    length, day = len(parts[0]), 0
    storm_told = False
    while length < TEXT_CHARACTERS:
        month = MONTHS[day // 28 % 12]
        entry = (
            f"{month} {day % 28 + 1}. {draw.choice(WINDS).capitalize()} at dawn, glass at {draw.randint(960, 1040)}. "
            f"{draw.choice(KEEPERS)} had the first watch and {draw.choice(WORKS)}; {draw.choice(SIGHTS)}. "
            f"Visibility {draw.randint(1, 22)} miles, swell {draw.randint(1, 9)} feet from the "
            f"{draw.choice(('north', 'west', 'south', 'east'))}. Lamp lit at {draw.randint(15, 21)}:{draw.randint(10, 59)} "
            f"and burned without fault, oil used {draw.randint(18, 44)} cups."
        )
        if not storm_told and length > TEXT_CHARACTERS // 2:
            parts.append(STORM)
            length += len(STORM) + 2
            storm_told = True
        parts.append(entry)
        length += len(entry) + 2
        day += 1
    return "\n\n".join(parts) + "\n"


def write_pdf(path: Path) -> None:
    """The maintenance plan: a paragraph, a ruled table, a paragraph."""
    styles = getSampleStyleSheet()
    table = Table(MAINTENANCE, style=[("GRID", (0, 0), (-1, -1), 0.8, "black")])
    story = [
        Paragraph("Maintenance Plan of the Skerry Light", styles["Title"]),
        Paragraph("The plan names each part, how often it is serviced and by whom.", styles["BodyText"]),
        Spacer(1, 12),
        table,
        Spacer(1, 12),
        Paragraph("If a service is missed, the light may burn for seven more days; then the office must be told.", styles["BodyText"]),
    ]
    SimpleDocTemplate(str(path), pagesize=A4, title="Maintenance Plan of the Skerry Light", invariant=1).build(story)


def write_docx(path: Path) -> None:
    """The smallest WordprocessingML package that Word and mammoth read."""
    body = "".join(
        f"<w:p>{f'<w:pPr><w:pStyle w:val={chr(34)}{style}{chr(34)}/></w:pPr>' if style else ''}<w:r><w:t>{escape(text)}</w:t></w:r></w:p>"
        for style, text in RULES
    )
    main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    word = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/></w:style>' for level in (1, 2)
    )
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    members = {
        "[Content_Types].xml": f'{head}<Types xmlns="{package}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{word}.document.main+xml"/>'
        f'<Override PartName="/word/styles.xml" ContentType="{word}.styles+xml"/></Types>',
        "_rels/.rels": f'{head}<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{office}/officeDocument" '
        f'Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'{head}<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/styles" Target="styles.xml"/></Relationships>',
        "word/styles.xml": f'{head}<w:styles xmlns:w="{main}">{styles}</w:styles>',
        "word/document.xml": f'{head}<w:document xmlns:w="{main}"><w:body>{body}</w:body></w:document>',
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name, ZIP_TIME), text, zipfile.ZIP_DEFLATED)


def main() -> None:
    """Write all five."""
    SAMPLES.mkdir(parents=True, exist_ok=True)
    write_pdf(SAMPLES / "maintenance-plan.pdf")
    write_docx(SAMPLES / "harbour-rules.docx")
    (SAMPLES / "seabird-survey.html").write_text(HTML, encoding="utf-8")
    (SAMPLES / "kitchen-notes.md").write_text(MARKDOWN, encoding="utf-8")
    (SAMPLES / "skerry-light-log.txt").write_text(logbook(), encoding="utf-8")


if __name__ == "__main__":
    main()
