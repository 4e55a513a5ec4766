"""The experiments of the paper: baselines, tables, figures and pages; and the gallery."""
