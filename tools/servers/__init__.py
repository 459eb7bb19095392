"""Real servers for tests and first tries, without containers: Kafka, PostgreSQL, Weaviate, Neo4j and an S3 server on free loopback ports.

`python -m servers up` (or `make servers-up`) starts them, `down` stops them. Each server is one file with one subclass of `Server`.
"""
