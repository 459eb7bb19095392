"""From passages to memories and entities."""
