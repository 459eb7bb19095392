"""Three members of a group on a real Kafka and a real PostgreSQL, killed at random, and a judge of what came out of it (`make chaos`)."""
