"""What mechanisms are made of: links and chains, bodies, legs and hexapods."""

from .body import Body
from .chain import GRAVITY, Chain
from .constraint import Constraint, Loop
from .hexapod import Hexapod
from .leg import Leg
from .link import Link
from .linkage import Linkage
from .section import Section

__all__ = ["GRAVITY", "Body", "Chain", "Constraint", "Hexapod", "Leg", "Link", "Linkage", "Loop", "Section"]
