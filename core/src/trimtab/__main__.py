"""``python -m trimtab``: the command line."""

from trimtab.cli import main

if __name__ == "__main__":
    main()
