"""Slow NumPy transcription of the serial-chain formulas; independent of the package under test.

Formula numbers are those of Yaskevich (002) and Zaremba (001) as restated in the project's page on serial chains.
Every function accepts complex joint coordinates, so that it can be differentiated by a complex step.
"""

from .chain import Serial, base_axes, body_wrenches, complex_step, rates
from .kane import bias_base_axes, kane, kane_collapsed, kane_recurrent, kosynka
from .newton_euler import columns, composite, reactions, rnea

__all__ = [
    "Serial",
    "base_axes",
    "bias_base_axes",
    "body_wrenches",
    "columns",
    "complex_step",
    "composite",
    "kane",
    "kane_collapsed",
    "kane_recurrent",
    "kosynka",
    "rates",
    "reactions",
    "rnea",
]
