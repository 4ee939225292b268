"""The Python interface: :class:`Recollect`, whose methods are the operations of the engine under their own names."""

from recollect.interfaces.python.memory import Recollect

__all__ = ["Recollect"]
