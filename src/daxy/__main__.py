"""The command `daxy`, which is `python -m daxy` too."""

import gc
import sys
import warnings

from daxy.core import interrupts


def main() -> int:
    """Serve the request on the command line and return the exit code."""
    # Imports make many objects and hardly any garbage: collecting it takes a tenth of their time.
    gc.set_threshold(100_000)
    # The imports of the command line take most of the first tenth of a second.
    interrupts.install(sys.argv[1:])
    from daxy.cli.main import main as serve
    from daxy.cli.main import show_warning

    warnings.showwarning = show_warning
    return serve()


if __name__ == "__main__":
    sys.exit(main())
