"""What every part of a policy is: frozen, and closed to keys that do not exist."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
