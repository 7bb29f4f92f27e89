import hashlib

from domain.knowledge.model import FileStatus
from tests.drivers.served import ServedWorld
from tests.drivers.ways import Rest
from tests.support.waiting import until

PUMPS = """# Cooling pumps

The cooling pump of hall seven is serviced every March. Its part number is INV-2024-00317. Ask Ada.

Before the service the pump is drained and its filter is changed.

## Faults

ERR-4711 means that the pump runs dry. Open the valve of hall seven, then start it again.

## دليل المضخة

تقع المضخة الرئيسية في الطابق الثالث من المبنى. اتصل بالمهندس قبل تشغيلها.
"""
VALVES = "Valves are stored in the cellar of hall seven. Their part number is INV-2024-00318."
KB = "/api/agent/kb"


def pages(world: ServedWorld) -> list[str]:
    rest = Rest(world)
    name = "Handbook of the halls, with machines, part numbers and faults"
    base = rest.request(
        "POST", KB, "admin", json={"name": name, "description": "For the bot of the workshop"}
    )
    path = f"{KB}/{base.json()['id']}"
    files = [("pumps.md", PUMPS), ("دليل.txt", VALVES), ("empty.html", "<html><body></body></html>")]
    for file, content in files:
        parts = [("file", (file, content.encode()))]
        rest.request("POST", path + "/uploadfile", "admin", files=parts, headers={"prefer": "respond-async"})
    rest.request("PUT", path + "/permissions", "admin", json={"userId": "ann", "permission_level": 1})

    def settled() -> bool:
        listed = rest.request("GET", path + "/file-states", "admin").json()["files"]
        return FileStatus.PROCESSING not in [file["status"] for file in listed]

    until(settled, "the files are read")
    rest.close()
    shown = f"/console/knowledge/{base.json()['id']}"
    text = f"{shown}/files/{hashlib.sha256(PUMPS.encode()).hexdigest()}?at=1"
    search = f"{shown}/search?q=where+is+the+cooling+pump+INV-2024-00317"
    return ["/console/knowledge", shown, text, search, f"{shown}/ask", f"{shown}/settings"]
