"""Bodies of searches, and queries of lists of files, that mean nothing."""

import json
from typing import Any

import grpc
import pytest
from switchboard.knowledge.v1 import base_files_pb2, base_files_pb2_grpc, knowledge_pb2_grpc
from switchboard.knowledge.v1 import knowledge_pb2 as pb

from tests.drivers.ways import Rest
from tests.drivers.world import SERVICE_KEY, World

KB = "/api/agent/kb"
WRONG: list[tuple[str, Any, str]] = [
    *(("topK", value, "whole number") for value in ("10", True, 2.5, None, [10], float("nan"))),
    *(("topK", value, "equal to") for value in (0, 51, -1, 10**39)),
    *(("minSimilarity", value, "number") for value in ("0.5", True, None, float("nan"), float("inf"))),
    *(("minSimilarity", value, "equal to") for value in (-0.1, 1.1, 10**39)),
    *(("fileIds", value, "list") for value in ("10", {}, 3)),
    ("fileIds", [], "at least 1"),
    ("fileIds", ["10"], "ids of files"),
    ("fileIds", ["A" * 64], "ids of files"),
    ("fileIds", [7], "string"),
    ("fileIds", ["\0"], "NUL"),
    ("fileIds", [f"{number:064x}" for number in range(10_000)], "at most 1000"),
    *(("perFile", value, "equal to") for value in (0, -1, 1001, 10**39)),
    *(("perFile", value, "whole number") for value in (True, "1", 1.5)),
    *(("mode", value, "hybrid") for value in ("semantic", "", None, 3, "TEXT")),
    *(("highlight", value, "boolean") for value in ("true", 1, None)),
    *((name, 10, "is not a field of this request") for name in ("topk", "limit", "top_k", "file_ids")),
]


@pytest.fixture
def base(rest: Rest) -> int:
    made: int = rest.request("POST", KB, "ann", json={"name": "Handbook"}).json()["id"]
    return made


def test_wrong_options_are_refused_by_name(rest: Rest, base: int) -> None:
    for path in (f"{KB}/{base}/search", f"{KB}/{base}/search/explain"):
        for field, value, told in WRONG:
            body = json.dumps({"query": "pump", field: value})
            answer = rest.request(
                "POST", path, "ann", content=body, headers={"content-type": "application/json"}
            )
            assert answer.status_code == 400, (field, value)
            error = answer.json()["error"]
            assert error.startswith(field), (field, value, error)
            assert told in error, (field, value, error)


def test_wide_options_are_taken(rest: Rest, base: int) -> None:
    wide = {"topK": 50.0, "minSimilarity": 1, "fileIds": ["0" * 64] * 2, "perFile": 1000, "mode": "text"}
    answer = rest.request("POST", f"{KB}/{base}/search", "ann", json={"query": "pump", **wide})
    assert (answer.status_code, answer.json()) == (200, {"results": []})


def test_wrong_lists_of_files_are_refused_by_name(rest: Rest, base: int) -> None:
    wrong = {
        "limit": ("0", "-1", "1001", "x", "", "1e3"),
        "offset": ("-1", "x", "1.5", "9" * 30),
        "fields": ("", "nothing", "text,nothing", "\0"),
        "name": ("a" * 256, "\0"),
    }
    for field, values in wrong.items():
        for value in values:
            answer = rest.request("GET", f"{KB}/{base}/files", "ann", params={field: value})
            assert answer.status_code == 400, (field, value)
            assert answer.json()["error"].startswith(field)
    for value in wrong["name"]:
        answer = rest.request("GET", f"{KB}/{base}/file-states", "ann", params={"name": value})
        assert (answer.status_code, answer.json()["error"][:5]) == (400, "name:")


def test_grpc_refuses_wrong_options_by_itself(world: World, rest: Rest, base: int) -> None:
    async def refused(wrong: pb.SearchOptions) -> None:
        metadata = [("authorization", f"Bearer {SERVICE_KEY}"), ("x-user-id", "ann")]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{world.grpc.port}") as channel:
            search = knowledge_pb2_grpc.KnowledgeServiceStub(channel).Search
            explain = base_files_pb2_grpc.BaseFileServiceStub(channel).ExplainSearch
            given: dict[str, Any] = {"knowledge_base_id": base, "query": "pump", "options": wrong}
            for call, request in (
                (search, pb.SearchRequest(**given)),
                (explain, base_files_pb2.ExplainSearchRequest(**given)),
            ):
                with pytest.raises(grpc.aio.AioRpcError) as failure:
                    await call(request, metadata=metadata, timeout=60)
                assert failure.value.code() is grpc.StatusCode.INVALID_ARGUMENT, wrong

    for wrong in (
        pb.SearchOptions(top_k=0),
        pb.SearchOptions(top_k=51),
        pb.SearchOptions(min_similarity=float("nan")),
        pb.SearchOptions(min_similarity=-0.1),
        pb.SearchOptions(per_file=0),
        pb.SearchOptions(file_ids=["x"]),
        pb.SearchOptions(file_ids=["0" * 64] * 1001),
        pb.SearchOptions(mode="semantic"),
    ):
        world.run(refused(wrong))
