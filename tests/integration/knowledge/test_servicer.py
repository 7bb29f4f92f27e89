"""What the gRPC servicer of knowledge bases says and refuses, as REST does."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace

import pytest
from switchboard.knowledge.v1 import knowledge_pb2 as pb

from adapters.inbound.grpc import servicers
from adapters.inbound.grpc.servicers import KnowledgeServicer
from adapters.rpc.engine import public_methods
from adapters.rpc.tables import KNOWLEDGE
from domain.access.model import Caller
from domain.knowledge.bases import BasesService
from domain.knowledge.files import FilesService
from domain.knowledge.search import SearchService
from domain.refusals import Invalid
from tests.support.knowledge import Knowledge


@pytest.fixture
def servicer(knowledge: Knowledge, ann: Caller, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The methods of the service, those of the table and those that are written by hand."""
    monkeypatch.setattr(servicers, "caller", lambda: ann)
    ports = {
        BasesService: knowledge.bases,
        FilesService: knowledge.files,
        SearchService: knowledge.search,
    }
    written = public_methods(KnowledgeServicer(knowledge.files))
    return SimpleNamespace(**KNOWLEDGE.behaviours(ports, written, lambda: ann))


async def sent(base_id: int, *names: str, respond_async: bool = False) -> AsyncIterator[pb.UploadRequest]:
    yield pb.UploadRequest(start=pb.UploadStart(knowledge_base_id=base_id, respond_async=respond_async))
    for name in names or ("a.txt", "b.txt"):
        yield pb.UploadRequest(file=pb.FileStart(file_name=name))
        yield pb.UploadRequest(data=f"What stands in {name}.".encode())


async def test_a_name_of_thousands_of_characters_is_shortened(
    servicer: SimpleNamespace, knowledge: Knowledge, ann: Caller
) -> None:
    base = await knowledge.base(ann)
    done = await servicer.Upload(sent(base, "n" * 5000 + ".txt", respond_async=True), None)
    assert [file.file_name for file in done.files] == ["n" * 251 + ".txt"]


async def test_an_upload_is_answered_with_a_message(
    servicer: SimpleNamespace, knowledge: Knowledge, ann: Caller
) -> None:
    base = await knowledge.base(ann)
    accepted = await servicer.Upload(sent(base, respond_async=True), None)
    assert accepted.message == "2 files accepted, being processed"
    waiting = asyncio.create_task(servicer.Upload(sent(base), None))
    assert await knowledge.work_one()
    assert (await waiting).message == "2 files uploaded successfully"


@pytest.mark.parametrize(
    ("offset", "content"), [(-3, b"The pump."), (4, b"pump."), (9, b""), (2**63 - 1, b"")]
)
async def test_a_download_begins_inside_the_file_whatever_is_asked(
    servicer: SimpleNamespace, knowledge: Knowledge, ann: Caller, offset: int, content: bytes
) -> None:
    (file,) = await knowledge.upload(ann, await knowledge.base(ann), a_txt="The pump.")
    answers = servicer.Download(pb.DownloadRequest(file_hash=file.hash, offset=offset), None)
    assert b"".join([answer.data async for answer in answers]) == content


@pytest.mark.parametrize(
    "manifest", ["[]", "{", '{"a": NaN}', '{"a": 1e999}', '{"a":' + "[" * 50_000 + "]" * 50_000 + "}"]
)
async def test_a_manifest_that_is_no_object_is_refused(servicer: SimpleNamespace, manifest: str) -> None:
    with pytest.raises(Invalid, match="manifest_json"):
        await servicer.CreateBase(pb.CreateBaseRequest(name="Handbook", manifest_json=manifest), None)


async def test_a_nul_character_is_refused_and_never_left_out(
    servicer: SimpleNamespace, knowledge: Knowledge, ann: Caller
) -> None:
    base = await knowledge.base(ann)
    with pytest.raises(Invalid, match="name"):
        await servicer.CreateBase(pb.CreateBaseRequest(name="a\0b"), None)
    with pytest.raises(Invalid, match="description"):
        await servicer.UpdateBase(pb.UpdateBaseRequest(id=base, description="a\0b"), None)
    with pytest.raises(Invalid, match="query"):
        await servicer.Search(pb.SearchRequest(knowledge_base_id=base, query="a\0b"), None)
    with pytest.raises(Invalid, match="userId"):
        await servicer.SetPermission(
            pb.SetPermissionRequest(id=base, user_id="bo\0b", permission_level=1), None
        )
    assert [each.user_id for each in await knowledge.bases.permissions(ann, base)] == ["ann"]
