"""Guards: what a file is, what it may cost, who may ask, and the sandbox in which parsers run."""
