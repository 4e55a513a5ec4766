"""The report: one HTML file that needs no other, with the points, the cut and the structures."""
