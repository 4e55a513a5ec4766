"""Programs built on the library: the command line, the demo, and folders scored on a cluster."""
