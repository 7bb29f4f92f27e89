"""Budgets over REST."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from adapters.inbound.rest.bodies import Answer, Body, Id, Number, Text, Timestamp, attribute
from adapters.inbound.rest.routing import Call, CursorPage, JsonRoute, errors, id_in_path
from domain import limits
from domain.paging import Page
from domain.usage import budgets as model


class BudgetBody(Body):
    userId: Text | None = Field(
        None,
        min_length=1,
        max_length=limits.USER_ID,
        description="The budget of a user; admins alone may set it.",
        examples=["ann"],
    )
    instanceId: Id | None = Field(None, description="The budget of an instance.", examples=[1])
    resourceId: Text | None = Field(
        None,
        min_length=1,
        max_length=limits.RESOURCE_ID,
        description="The budget of an agent, all of its experts together.",
        examples=["agent::support"],
    )
    tokens: Id | None = Field(
        None, description="Tokens a month, read and written together.", examples=[5_000_000]
    )
    cost: Number | None = Field(None, description="Money a month, in `currency`.", examples=[50])
    currency: Text | None = Field(None, min_length=3, max_length=3, examples=["EUR"])


class BudgetRecord(Answer):
    id: int = Field(examples=[3])
    userId: str | None = Field(examples=[None])
    instanceId: int | None = Field(examples=[1])
    resourceId: str | None = Field(examples=[None])
    tokens: int | None = Field(description="A month; null for a budget of money.", examples=[None])
    cost: float | None = Field(description="A month; null for a budget of tokens.", examples=[50])
    currency: str | None = Field(examples=["EUR"])
    byAdmin: bool = Field(description="An admin has set it: nobody else may change it.", examples=[False])
    createdBy: str = Field(examples=["ann"])
    updatedAt: Timestamp
    month: str = Field(description="The month that `spent` is of, in UTC.", examples=["2026-03"])
    spent: float = Field(description="This month: tokens, or money.", examples=[41.7])
    percent: float = Field(description="`spent` in percent of the budget.", examples=[83.4])


class BudgetList(Answer):
    budgets: list[BudgetRecord] = attribute("items")
    next: int | None


BASE = "/api/agent/budgets"
router = APIRouter(route_class=JsonRoute, tags=["monitoring"])

BudgetId = Annotated[int, id_in_path("budgetId", "Id of a budget.", 3)]


@router.get(BASE, response_model=BudgetList, responses=errors(400), summary="Budgets of the month")
async def list_budgets(call: Call, page: CursorPage) -> Page[model.Budget, int]:
    """Those of the caller, of the instances that the caller may see, and of the caller's agents, with what is spent
    of them this month; ordered by id. An admin sees all."""
    return await call.services.budgets.list(call.caller, page.limit, page.number)


@router.put(
    BASE, response_model=BudgetRecord, responses=errors(400, 403, 404, 409, 413), summary="Set a budget"
)
async def set_budget(call: Call, body: BudgetBody) -> model.Budget:
    """Sets what a user, an instance or an agent may take in a calendar month (UTC), in place of its budget in the
    same unit. At 80 % there is an event; at 100 % the agent is not asked any more, and senders read why. What was
    spent earlier this month counts."""
    new = model.NewBudget(
        body.userId, body.instanceId, body.resourceId, body.tokens, body.cost, body.currency
    )
    return await call.services.budgets.set(call.caller, new)


@router.delete(f"{BASE}/{{budgetId}}", status_code=204, responses=errors(403, 404), summary="Delete a budget")
async def delete_budget(call: Call, budget: BudgetId) -> None:
    """The agent is asked again within seconds. One that an admin has set is deleted by admins alone."""
    await call.services.budgets.delete(call.caller, budget)
