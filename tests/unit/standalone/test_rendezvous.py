"""Finding the server of a data directory."""

from __future__ import annotations

import os
from pathlib import Path

from eunoe_standalone import rendezvous
from eunoe_standalone.rendezvous import RunningServer
from eunoe_stores.sqlite.lock import DataDirectoryLock


def published(data_dir: Path) -> RunningServer:
    server = RunningServer(os.getpid(), "127.0.0.1:1", "127.0.0.1:2", "secret", "0")
    rendezvous.publish(data_dir, server)
    return server


def test_a_server_is_found_while_it_has_the_directory(tmp_path: Path) -> None:
    with DataDirectoryLock(tmp_path):
        server = published(tmp_path)
        assert rendezvous.find(tmp_path) == server
        rendezvous.withdraw(tmp_path)
        assert rendezvous.find(tmp_path) is None


def test_the_file_of_a_killed_server_is_not_believed_though_its_process_id_lives(tmp_path: Path) -> None:
    with DataDirectoryLock(tmp_path):
        published(tmp_path)
    assert rendezvous.find(tmp_path) is None


def test_an_unreadable_file_is_no_server(tmp_path: Path) -> None:
    (tmp_path / rendezvous.FILE_NAME).write_text("{", encoding="utf-8")
    assert rendezvous.find(tmp_path) is None
