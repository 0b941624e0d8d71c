"""`python -m daxy` is `daxy`."""

import sys

from daxy.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
