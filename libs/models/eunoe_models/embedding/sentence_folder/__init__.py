"""Any model in a sentence-transformers folder: described and tokenised without torch, computed by that library, on a GPU if there is."""

from eunoe_models.embedding.sentence_folder.description import FolderDescription, described
from eunoe_models.embedding.sentence_folder.tokens import FolderTokens

__all__ = ["FolderDescription", "FolderTokens", "described"]
