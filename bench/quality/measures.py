"""nDCG, recall and reciprocal rank at ten."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

AT = 10


def ndcg(ranked: Sequence[str], relevant: Mapping[str, int]) -> float:
    """Discounted gain of the first ten over the best possible one."""
    gain = sum(relevant.get(each, 0) / math.log2(place + 2) for place, each in enumerate(ranked[:AT]))
    best = sorted(relevant.values(), reverse=True)[:AT]
    return gain / sum(grade / math.log2(place + 2) for place, grade in enumerate(best))


def recall(ranked: Sequence[str], relevant: Mapping[str, int]) -> float:
    return len(set(ranked[:AT]) & set(relevant)) / len(relevant)


def reciprocal_rank(ranked: Sequence[str], relevant: Mapping[str, int]) -> float:
    return next((1 / (place + 1) for place, each in enumerate(ranked[:AT]) if each in relevant), 0.0)


def row(name: str, rankings: Mapping[str, Sequence[str]], relevant: Mapping[str, Mapping[str, int]]) -> str:
    """One line of the report: the means over all queries."""
    means = [
        fmean(measure(ranked, relevant[query]) for query, ranked in rankings.items())
        for measure in (ndcg, recall, reciprocal_rank)
    ]
    return f"{name:<34} {means[0]:.4f}   {means[1]:.4f}      {means[2]:.4f}"
