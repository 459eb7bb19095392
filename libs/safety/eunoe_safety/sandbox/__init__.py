"""Killable worker processes without network, with limits, for code that reads untrusted bytes. Entry: `sandbox.pool.WorkerPool`."""
