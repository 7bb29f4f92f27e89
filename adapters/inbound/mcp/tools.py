"""What all tools have in common: arguments that are checked, a description, an answer with a schema."""

from __future__ import annotations

import inspect
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_snake
from pydantic.json_schema import GenerateJsonSchema

from adapters.inbound.rest.bodies import Answer, Text, WholeNumber, standard_schema
from domain import limits
from domain.access.model import Caller
from domain.paging import LARGEST_LIMIT
from ports.use_cases import UseCases

Cursor = Annotated[
    Text | None, Field(max_length=limits.CURSOR, description="The value of `next` in the answer before.")
]
Limit = Annotated[WholeNumber, Field(ge=1, le=LARGEST_LIMIT)]
Next = Annotated[
    str | None, Field(description="Pass it as `cursor` to get what follows; null: there is no more.")
]


class Untitled(GenerateJsonSchema):
    """Leaves out titles, which only say the names of fields again: models pay for each word."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


class ToolCall(BaseModel):
    """A call of a tool: its fields are the arguments, its docstring is what models read."""

    model_config = ConfigDict(extra="forbid")

    TITLE: ClassVar[str]
    ANSWER: ClassVar[type[Answer]]
    SENDS: ClassVar[bool] = False
    """Whether it changes anything."""

    @classmethod
    def name(cls) -> str:
        return to_snake(cls.__name__)

    @classmethod
    def description(cls) -> str:
        return " ".join((inspect.getdoc(cls) or "").split())

    @classmethod
    def input_schema(cls) -> dict[str, JsonValue]:
        schema: dict[str, JsonValue] = standard_schema(cls.model_json_schema(schema_generator=Untitled))
        return {name: value for name, value in schema.items() if name not in ("description", "title")}

    @classmethod
    def output_schema(cls) -> dict[str, JsonValue]:
        schema: dict[str, JsonValue] = standard_schema(
            cls.ANSWER.model_json_schema(mode="serialization", schema_generator=Untitled)
        )
        return schema

    async def run(self, services: UseCases, caller: Caller) -> Answer:
        """Raises refusals."""
        raise NotImplementedError
