"""Ways to find memories in passages, one per file or folder, behind `port.Proposer`."""
