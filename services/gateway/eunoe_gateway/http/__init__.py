"""The HTTP door: MemoryDB's shapes and ours on `/v1`, health, metrics. It only translates to `application.Application`."""
