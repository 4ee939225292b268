"""Where a memory lives. A stream, the unit of order, is one ``(tenant, namespace, space, owner)``."""

from typing import NamedTuple

from recollect.model.vocabulary import Namespace, Space


class Address(NamedTuple):
    """The address of a stream, in the order by which streams are locked."""

    tenant: str
    namespace: Namespace
    space: Space
    owner: str
