"""Wire contracts of eunoe: errors, events, topics, identity rules, formats, stages. Pure: no I/O, no clock, no randomness."""
