"""Sample files of the demo, made by `make samples`."""
