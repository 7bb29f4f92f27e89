"""The models of an installation in its data folder: those that were pulled, and the speech model in use."""

import json
import tempfile
from pathlib import Path

from adapters.outbound.knowledge.embedding.model_files import ModelFiles
from adapters.outbound.knowledge.models.catalogue import BUILT_IN, SCALES, PinnedModel

SPEECH = "speech"
"""The link to the speech model in use."""
EXPORTED = "exported"


class ModelFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._files: dict[str, ModelFiles] = {}

    @property
    def exported(self) -> Path:
        return self.path / EXPORTED

    def of(self, name: str) -> Path:
        return self.path / name

    def has(self, model: PinnedModel) -> bool:
        """Return True if it was pulled: a folder gets its name when all of its files are there."""
        return self.of(model.name).is_dir()

    def is_here(self, model: PinnedModel) -> bool:
        return model.name == BUILT_IN or self.has(model)

    def files(self, model: PinnedModel) -> ModelFiles:
        """An embedding model that was pulled, or the one that comes with the installation; always the same object."""
        if model.name not in self._files:
            packaged = model.name == BUILT_IN and not self.has(model)
            folder = None if packaged else self.of(model.name)
            self._files[model.name] = ModelFiles(
                folder, multilingual=model.multilingual and not packaged, scales=SCALES
            )
        return self._files[model.name]

    def speech(self) -> str:
        """The name of the speech model in use, or nothing."""
        link = self.path / SPEECH
        return link.readlink().name if link.is_symlink() and link.exists() else ""

    def use_speech(self, name: str) -> None:
        """Whoever starts from now on recognises speech with it."""
        with tempfile.TemporaryDirectory(dir=self.path) as work:
            link = Path(work) / SPEECH
            link.symlink_to(name)
            link.replace(self.path / SPEECH)


def describe(model: PinnedModel, folder: Path) -> None:
    """Writes what sentence-transformers and the service want to know besides the files of the hub."""
    module = "sentence_transformers.models"
    parts = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    texts = {
        "modules.json": [
            {"idx": place, "name": str(place), "path": path, "type": f"{module}.{name}"}
            for place, (path, name) in enumerate(parts.items())
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": 384,
            "pooling_mode_cls_token": model.pooling == "cls",
            "pooling_mode_mean_tokens": model.pooling == "mean",
        },
        "sentence_bert_config.json": {"max_seq_length": model.window, "do_lower_case": False},
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": model.window,
        },
        "config_sentence_transformers.json": {
            "prompts": {"query": model.prompts.query, "document": model.prompts.passage},
        },
    }
    for name, content in texts.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content, indent=2))
