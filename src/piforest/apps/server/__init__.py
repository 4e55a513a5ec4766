"""The scoring server of `piforest serve`: a fitted model behind HTTP."""
