"""Files: written atomically, archives of arrays, and tables in every format."""
