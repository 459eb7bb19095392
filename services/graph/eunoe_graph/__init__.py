"""Structure, mentions and relations of documents and memories."""
