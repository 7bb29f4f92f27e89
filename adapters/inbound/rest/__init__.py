"""The REST interface.

Its models, and those that FastAPI describes its documentation with, are built when they are first used: building all
of them takes time at each start, and memory for requests that may never come.
"""

import warnings

from pydantic import BaseModel
from pydantic.warnings import UnsupportedFieldAttributeWarning

BaseModel.model_config["defer_build"] = True
# FastAPI ignores it where it makes a field; a field that is built later tells it again.
warnings.filterwarnings("ignore", category=UnsupportedFieldAttributeWarning)
