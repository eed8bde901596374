"""Kinds of expressions, each bound by functions of its own over what the binder of a clause knows."""
