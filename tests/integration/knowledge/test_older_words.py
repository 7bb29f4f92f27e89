"""Bases that an older version has indexed: under other words than chunks are indexed under now."""

import asyncio
from collections import Counter

import pytest

from adapters.outbound.storage.knowledge import word_index
from adapters.outbound.storage.knowledge.word_index import PostgresWordIndex, lex, term_hash
from domain.access.model import Caller
from domain.knowledge.index_words import index_words
from tests.support.knowledge import Knowledge

SCHOOL = "تقع المدرسة الكبيرة في شارع أحمد.\n\nرقم 4711 من Pump 12.\n\n國家標準 規 格"
PAID = "IBAN DE89 3704 0044 0532 0130 00 is the club's.\n\nNothing else is old here."


async def age(knowledge: Knowledge, base: int, version: int) -> None:
    """Indexes all chunks of a base as an older version did."""
    rows = await knowledge.database.fetch(
        "SELECT seq, CASE context WHEN '' THEN text ELSE context || E'\\n' || text END FROM chunk WHERE kb_id = %s",
        (base,),
    )
    counts: Counter[str] = Counter()
    for seq, text in rows:
        words = index_words(text, version)
        counts.update(words)
        terms = sorted(term_hash(base, word) for word in words)
        await knowledge.database.execute(
            "UPDATE chunk_index SET terms = %s, lex = %s WHERE kb_id = %s AND seq = %s",
            (terms, lex(dict.fromkeys(terms, 1.0)), base, seq),
        )
    await knowledge.database.execute("DELETE FROM kb_term WHERE kb_id = %s", (base,))
    await knowledge.database.execute(
        "INSERT INTO kb_term (kb_id, term, df) SELECT %s, * FROM unnest(%s::text[], %s::int4[])",
        (base, list(counts), list(counts.values())),
    )
    last = max(seq for seq, _ in rows)
    await knowledge.database.execute(
        "UPDATE knowledge_base SET old_words_to = %s WHERE id = %s", (last, base)
    )


async def words_of(knowledge: Knowledge, base: int) -> dict[str, int]:
    rows = await knowledge.database.fetch("SELECT term, df FROM kb_term WHERE kb_id = %s", (base,))
    return dict(rows)


@pytest.mark.parametrize(("version", "batch"), [(1, 1), (1, 200), (2, 200)])
async def test_old_chunks_are_indexed_anew_with_the_frequencies_of_their_words(
    knowledge: Knowledge, ann: Caller, monkeypatch: pytest.MonkeyPatch, version: int, batch: int
) -> None:
    monkeypatch.setattr(word_index, "BATCH", batch)
    base = await knowledge.base(ann)
    await knowledge.upload(ann, base, school_txt=SCHOOL, paid_txt=PAID)
    wanted = await words_of(knowledge, base)
    await age(knowledge, base, version)
    assert await words_of(knowledge, base) != wanted
    await knowledge.upload(ann, base, new_txt="A new file about pump 12.")
    index = PostgresWordIndex(knowledge.database)
    changed = await asyncio.gather(index.maintain(), PostgresWordIndex(knowledge.database).maintain())
    assert sum(changed) >= (2 if version == 1 else 1)
    assert await index.maintain() == 0
    added = Counter(index_words("A new file about pump 12."))
    assert await words_of(knowledge, base) == dict(Counter(wanted) + added)
    for query in ("مدرسه احمد", "DE89370400440532013000", "国家标准规格"):
        results = await knowledge.search.search(ann, base, query)
        assert results[0].file_name in ("school.txt", "paid.txt")
        assert results[0].text_score
        assert results[0].text_score > 0.2


@pytest.mark.parametrize("reached", [False, True], ids=["before it is indexed anew", "after that"])
async def test_a_file_that_an_older_version_indexed_leaves_no_words_behind(
    knowledge: Knowledge, ann: Caller, reached: bool
) -> None:
    base = await knowledge.base(ann)
    (school,) = await knowledge.upload(ann, base, school_txt=SCHOOL)
    await age(knowledge, base, 1)
    if reached:
        await PostgresWordIndex(knowledge.database).maintain()
    await knowledge.base_files.remove(ann, base, school.hash)
    assert await words_of(knowledge, base) == {}
