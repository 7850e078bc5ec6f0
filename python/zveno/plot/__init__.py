"""Figures. Needs matplotlib (``zveno[cli]``); nothing else in the package needs this."""
