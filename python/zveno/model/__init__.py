"""What mechanisms are made of: links and chains, bodies, legs and hexapods."""

from .body import Body
from .chain import GRAVITY, Chain
from .hexapod import Hexapod
from .leg import Leg
from .link import Link
from .section import Section

__all__ = ["GRAVITY", "Body", "Chain", "Hexapod", "Leg", "Link", "Section"]
