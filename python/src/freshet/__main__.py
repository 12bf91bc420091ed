"""`python -m freshet` is the command."""

from ._binary import main

main()
