"""`python -m piforest`: the same as the `piforest` command."""

import sys

from .apps.cli import main

sys.exit(main())
