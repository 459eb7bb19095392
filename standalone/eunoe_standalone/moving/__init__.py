"""Moving data between servers: an export of one tenant in one file, and its import, both through the public calls."""
