"""Cross-sections of links and beams; they live in `zveno.model.cross_section`."""

from .model.cross_section import *  # noqa: F403
from .model.cross_section import __all__ as __all__
