"""Figures. Needs matplotlib (``zveno[plot]``); nothing else in the package needs this."""
