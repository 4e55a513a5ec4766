"""Applications: the command line, the demo, and scoring of folders on a cluster."""
