"""What the paper's experiments are made of."""
