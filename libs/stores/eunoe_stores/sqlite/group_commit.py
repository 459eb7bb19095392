"""Works that wait together share one commit (group commit); one that raises is rolled back alone."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from eunoe_stores.sqlite.connections import raw
from eunoe_stores.sqlite.errors import mapped
from eunoe_stores.sqlite.waiting import Waiting


class GroupCommit:
    """One connection that writes, used by one thread.

    BEGIN and COMMIT go to the driver: SQLAlchemy's own cost more than most works. For SQLAlchemy one transaction is open
    all the time, so that a work cannot end ours through it.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._driver = raw(connection)

    def begin(self) -> None:
        """Take the write lock. Raises the driver's error, for example when another connection has it for too long."""
        if not self._connection.in_transaction():
            self._connection.begin()
        self._driver.execute("BEGIN IMMEDIATE")

    def finish(self, batch: Sequence[Waiting]) -> None:
        """Run the works and commit; each has a result or an error then. `begin` was called before.

        When one raises, everything is rolled back and each runs again, in a transaction of its own: that is rare, and savepoints around
        every work would cost as much as the works.
        """
        try:
            for waiting in batch:
                waiting.run(self._connection)
        except BaseException as error:  # noqa: BLE001 - it goes to the caller
            self._roll_back()
            if len(batch) == 1:
                batch[0].error = mapped(error)
                return
            for waiting in batch:
                self._commit_alone(waiting)
            return
        try:
            self._driver.execute("COMMIT")
        except BaseException as error:  # noqa: BLE001 - every caller gets it
            self._roll_back()
            for waiting in batch:
                waiting.error = mapped(error)

    def run(self, batch: Sequence[Waiting]) -> None:
        """`begin`, then `finish`; an error of `begin` reaches every caller."""
        try:
            self.begin()
        except BaseException as error:  # noqa: BLE001 - it goes to the callers
            self._roll_back()
            for waiting in batch:
                waiting.error = mapped(error)
        else:
            self.finish(batch)

    def _commit_alone(self, waiting: Waiting) -> None:
        try:
            self.begin()
            waiting.run(self._connection)
            self._driver.execute("COMMIT")
        except BaseException as error:  # noqa: BLE001 - it goes to the caller
            self._roll_back()
            waiting.error = mapped(error)

    def _roll_back(self) -> None:
        if self._driver.in_transaction:  # SQLite may have ended it itself
            self._driver.execute("ROLLBACK")
