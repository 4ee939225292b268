"""Run the command line as ``python -m recollect``, where the command itself is not on the path."""

from recollect.interfaces.cli import main

if __name__ == "__main__":
    main()
