"""From blocks to units: sections, passages, the root and the contextual text. Pure; one noun per file."""
