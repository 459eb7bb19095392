from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from eunoe_contracts.errors import BudgetExceeded
from eunoe_extractor.backends import rst
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import ParsedDocument

Read = Callable[..., ParsedDocument]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reader(content: str | bytes, **options: int) -> ParsedDocument:
        path = tmp_path / "input"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return rst.parse(path, name="a.rst", options=ParseOptions(**options))

    return reader


def shown(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in document.blocks]


GRID = """
+------+----------+
| 名   | Size     |
+======+==========+
| a    | first    |
|      | line     |
+------+----------+
| b    | - x | y  |
+------+----------+
| over both       |
+------+----------+
"""


def test_grid_tables(read: Read):
    (table,) = read(GRID).blocks
    assert table.header == ("名", "Size")
    assert table.rows == (("a", "first line"), ("b", "- x | y"), ("over both", ""))


def test_simple_tables(read: Read):
    table, after = read("=====  ======  ===\nA      B       C\n=====  ======  ===\nx y    **z**   and a long end\n       more\n名前   b2\n"
                        "-----  ------  ---\nlast\n=====  ======  ===\n\nafter\n").blocks  # fmt: skip
    assert table.header == ("A", "B", "C")
    assert table.rows == (("x y", "z more", "and a long end"), ("名前", "b2", ""), ("last", "", ""))
    assert after.text == "after"


def test_all_rows_come_out(read: Read):
    document = read("==== ====\nid   n\n==== ====\n" + "".join(f"{number:<4} n{number}\n" for number in range(1000)) + "==== ====\n")
    assert [row[0] for block in document.blocks for row in block.rows] == [str(number) for number in range(1000)]
    assert {block.header for block in document.blocks} == {("id", "n")}


def test_absurd_tables(read: Read):
    with pytest.raises(BudgetExceeded):
        read("+" + "-+" * 2000 + "\n" + "|x\n" * 20_000)


DIRECTIVES = """
.. note:: Be *careful*
   here.

   - item

.. code-block:: python
   :linenos:

   def f():
       return 1

.. code:: sh
   ls

.. csv-table:: Prices
   :header: "Item", "Price"

   "Apple, red", 3

.. list-table:: Parts

   * - H1
     - H2
   * - a
       long
     - b

.. figure:: p.png
   :alt: A bird
   :width: 50

   The caption.

.. math:: e = mc^2

.. function:: run(x, y)

   Runs it.

.. |v| replace:: Version 3

.. a comment
   that is hidden

.. _target: http://hidden

.. [1] The footnote
   goes on.
.. toctree::
   :maxdepth: 2

   intro
"""


def test_directives(read: Read):
    document = read(DIRECTIVES)
    assert shown(document) == [
        ("paragraph", "Be careful here."),
        ("list", "- item"),
        ("code", "def f():\n    return 1"),
        ("code", "ls"),
        ("paragraph", "Prices"),
        ("table", "| Item | Price |\n| --- | --- |\n| Apple, red | 3 |"),
        ("paragraph", "Parts"),
        ("table", "| H1 | H2 |\n| --- | --- |\n| a long | b |"),
        ("paragraph", "A bird"),
        ("paragraph", "The caption."),
        ("code", "e = mc^2"),
        ("paragraph", "run(x, y)"),
        ("paragraph", "Runs it."),
        ("paragraph", "Version 3"),
        ("paragraph", "[1] The footnote\ngoes on."),
        ("paragraph", "intro"),
    ]
    assert [block.language for block in document.blocks if block.kind.value == "code"] == ["python", "sh", "latex"]
