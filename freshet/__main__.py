"""`python -m freshet`, the same as `freshet`."""

from freshet.command.application import main

if __name__ == "__main__":
    main()
