"""The gRPC door: it translates, limits and authenticates; it has no logic of its own."""
