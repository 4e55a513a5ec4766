"""Studio, the page of `piforest studio`: files in, commands in worker processes, results out."""
