"""`python -m service`, the same as `freshet serve`."""

from service.process.commandline import main

if __name__ == "__main__":
    main()
