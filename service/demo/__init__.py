"""The demo: the packages of Debian 12, what an advisory reaches in them, and the service to show it with."""
