"""The whole pipeline in virtual time, with seeded faults around every port and an oracle that knows what was acknowledged."""
