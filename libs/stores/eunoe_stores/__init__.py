"""Store ports and adapters: blobs, vectors, graph, catalogue. The tenant is the first argument of every port."""
