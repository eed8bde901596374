"""`python -m service`, the same as `freshet serve`."""

import gc
from importlib import import_module

if __name__ == "__main__":
    gc.disable()  # nothing that is loaded is garbage; `serve` enables it
    import_module("service.process.commandline").main()
