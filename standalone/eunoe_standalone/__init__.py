"""The `eunoe` distribution: every service in one process on SQLite, and the command line."""
