"""Documents at the gateway: acceptance, reading, ends, erasure, sweeping."""
