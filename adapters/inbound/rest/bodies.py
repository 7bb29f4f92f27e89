"""What the bodies of the REST interface have in common.

Handlers return values of the domain. FastAPI reads the fields of an answer from their attributes, checks them
against the answer's model, and writes the JSON.
"""

import json
from datetime import datetime
from typing import Annotated, Any

from pydantic import AliasGenerator, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, StrictStr
from pydantic.alias_generators import to_snake

from domain import limits
from domain.access.sharing import Grantee
from domain.values import iso_milliseconds

AT = "2026-03-01T09:30:00.000Z"
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
REQUEST_ID = "6f1c1b0e-6d0e-4f7e-9a54-0a4c3f5f2b11"
"""Values of examples."""


class Body(BaseModel):
    """A request body; fields that nobody knows are ignored."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class StrictBody(BaseModel):
    """A request body that may hold nothing but its fields."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


def attribute(path: str, **more: Any) -> Any:
    """A field of an answer that is read from another attribute than its own name in snake case."""
    return Field(validation_alias=AliasPath(*path.split(".")), **more)


class Answer(BaseModel):
    model_config = ConfigDict(
        from_attributes=True,
        validate_by_name=True,
        validate_by_alias=True,
        alias_generator=AliasGenerator(validation_alias=to_snake),
    )


def _require_success(schema: dict[str, Any]) -> None:
    schema["required"] = ["success", *schema.get("required", [])]
    del schema["properties"]["success"]["default"]


class Done(Answer):
    """An answer that says that a request was carried out."""

    model_config = ConfigDict(json_schema_extra=_require_success)

    success: bool = True


def is_none(value: object) -> bool:
    return value is None


def is_empty(value: object) -> bool:
    return not value


def text_of(value: Any) -> Any:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ValueError("must be text without lone surrogates") from error
        if "\0" in value:
            raise ValueError("must not contain a NUL character")
    return value


def _whole_number(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("must be a whole number")
    return value


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")
    return value


def _storable(value: Any) -> Any:
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("must hold text without lone surrogates") from error
    except (ValueError, RecursionError) as error:
        raise ValueError("must be JSON without NaN or Infinity, and not nested too deeply") from error
    return value


def _timestamp(value: Any) -> Any:
    return iso_milliseconds(value) if isinstance(value, datetime) else value


def standard_schema(schema: Any) -> Any:
    """A JSON schema with bounds under their standard names: behind a validator Pydantic writes them under its own."""
    if isinstance(schema, list):
        return [standard_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        _BOUNDS.get(name, name) if isinstance(part, int | float) else name: standard_schema(part)
        for name, part in schema.items()
    }


_BOUNDS = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}
Config = Annotated[dict[str, Any], BeforeValidator(_storable)]
"""Written as JSON it has at most `limits.JSON_BYTES`, which the domain checks."""
Text = Annotated[StrictStr, BeforeValidator(text_of)]
"""A field that is one says its longest length, `max_length`, from `domain.limits`."""
WholeNumber = Annotated[int, BeforeValidator(_whole_number)]
Number = Annotated[float, Field(allow_inf_nan=False), BeforeValidator(_number)]
Id = Annotated[WholeNumber, Field(ge=1, le=2**63 - 1)]
Timestamp = Annotated[str, BeforeValidator(_timestamp), Field(examples=[AT])]
"""UTC, ISO 8601, milliseconds and Z."""
OptionalTimestamp = Annotated[str | None, BeforeValidator(_timestamp)]


class ErrorBody(BaseModel):
    """Every error of the service."""

    error: str = Field(description="What is wrong, with which field, and how to mend it.")

    model_config = ConfigDict(json_schema_extra={"example": {"error": "config.smtpPort: must be a number"}})


class Empty(Answer):
    """An object with nothing in it."""


class Pagination(Answer):
    currentPage: int = attribute("current")
    totalPages: int = attribute("pages")
    totalCount: int = attribute("total")
    limit: int = Field(examples=[5])
    offset: int = Field(examples=[0])


class Accepted(Done):
    message: str = Field(examples=["It is sent again."])


class GranteeBody(Body):
    """Who gets a permission."""

    userId: Text | None = Field(
        None, max_length=limits.USER_ID, description="Either a user or a team.", examples=["bob"]
    )
    teamId: Id | None = Field(None, examples=[None])

    def grantee(self) -> Grantee:
        return Grantee(self.userId, self.teamId)


class GranteeAnswer(Answer):
    userId: str | None = Field(description="Null for a team.", examples=["bob"])
    teamId: int | None = Field(
        None, description="Present only for a team.", examples=[None], exclude_if=is_none
    )
