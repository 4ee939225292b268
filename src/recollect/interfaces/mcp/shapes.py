"""The requests and answers of the reference memory server, field by field."""

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from recollect.interfaces.mcp.tool import Request

MAX_SEARCH = 2_048


class Part(BaseModel):
    """A piece of a request or an answer. As in the reference server, what it does not know is left aside."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, alias_generator=to_camel)


class EntityPart(Part):
    name: str = Field(description="what the entity is called")
    entity_type: str = Field(description="what sort of thing it is")
    observations: list[str] = Field(description="what is known of it, one statement each")


class RelationPart(Part):
    start: str = Field(alias="from", description="the name of the entity where it begins")
    to: str = Field(description="the name of the entity where it ends")
    relation_type: str = Field(description="how the one relates to the other, in active voice")


class NewObservations(Part):
    entity_name: str = Field(description="the entity that they are about")
    contents: list[str] = Field(description="what is known of it, one statement each")


class OldObservations(Part):
    entity_name: str = Field(description="the entity that they are about")
    observations: list[str] = Field(description="the exact statements to delete")


class AddedObservations(Part):
    entity_name: str
    added_observations: list[str]


class GraphRequest(Request):
    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)


class CreateEntities(GraphRequest):
    entities: list[EntityPart]


class Relations(GraphRequest):
    relations: list[RelationPart]


class AddObservations(GraphRequest):
    observations: list[NewObservations]


class DeleteEntities(GraphRequest):
    entity_names: list[str] = Field(description="the names of the entities to delete")


class DeleteObservations(GraphRequest):
    deletions: list[OldObservations]


class ReadGraph(GraphRequest):
    pass


class SearchNodes(GraphRequest):
    query: str = Field(max_length=MAX_SEARCH, description="text to find in names, types and observations")


class OpenNodes(GraphRequest):
    names: list[str] = Field(description="the names of the entities to open")


class EntitiesAnswer(Part):
    entities: list[EntityPart]


class RelationsAnswer(Part):
    relations: list[RelationPart]


class ObservationsAnswer(Part):
    results: list[AddedObservations]


class GraphAnswer(Part):
    entities: list[EntityPart]
    relations: list[RelationPart]


class DoneAnswer(Part):
    success: bool
    message: str
