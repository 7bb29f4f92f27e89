"""A knowledge base with a few documents to search, among notes that are beside the point."""

from domain.access.model import Caller
from tests.support.knowledge import Knowledge

DOCUMENTS = {
    "pumps_txt": "The cooling pump of hall seven is serviced every March. Its part number is INV-2024-00317.",
    "valves_txt": "Valves are stored in the cellar. Their part number is INV-2024-00318.",
    "holiday_txt": "Holidays are requested with form E3413 from the office on the second floor.",
    "canteen_txt": "The canteen serves lunch from noon. Photosynthesis is explained on a poster there.",
    "arabic_txt": "تقع المكتبة الرئيسية في الطابق الثالث من المبنى",
    "chinese_txt": "图书馆位于三楼。编号为ERR-4711的错误已经修复。",
}


async def base_of_documents(knowledge: Knowledge, owner: Caller) -> int:
    """A new base that holds them."""
    base = await knowledge.base(owner)
    await knowledge.upload(owner, base, **DOCUMENTS)
    notes = {
        f"filler{i}_txt": f"Note {i}: nothing of interest happened in week {i} of the year."
        for i in range(14)
    }
    await knowledge.upload(owner, base, **notes)
    return base
