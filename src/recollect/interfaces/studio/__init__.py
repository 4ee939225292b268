"""Studio: pages on which a person sees and governs what an agent remembers. They draw what `Recollect` answers, no more."""

from recollect.interfaces.studio.app import PREFIX, build_studio
from recollect.interfaces.studio.serving import mount_studio, open_listener, serve
from recollect.interfaces.studio.sessions import Doorkeeper

__all__ = ["PREFIX", "Doorkeeper", "build_studio", "mount_studio", "open_listener", "serve"]
