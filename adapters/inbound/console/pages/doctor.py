"""What the installation lacks."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import caller_of, render, services_of
from domain.monitoring.model import Grade

ORDER = (Grade.FAIL, Grade.NOTE, Grade.OK)


async def doctor(request: Request) -> Response:
    findings = await services_of(request).monitoring.doctor.findings(caller_of(request))
    graded = {grade.value: [each for each in findings if each.grade is grade] for grade in ORDER}
    return render(request, "doctor.html", {"graded": graded})


ROUTES = [Route("/console/doctor", doctor)]
