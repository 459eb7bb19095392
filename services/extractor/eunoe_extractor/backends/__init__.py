"""One file per format: how its bytes become a `ParsedDocument`. They run inside a worker process only."""
