"""Configuration, targets and set-up of drive-folder (Google Drive)."""

from dataclasses import dataclass

from adapters.outbound.channels.common.config import credential, required, steps
from domain.channels.model import ChannelDefinition, Format, SetupInstructions
from domain.channels.typed import ChannelConfig, ChannelTarget, ConfigModel, JsonModel, setting, stored_as
from domain.values import value


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveConfig(ChannelConfig):
    client_id: str = required("Client ID of the Google OAuth 2.0 client.")
    client_secret: str = credential("Client secret of the Google OAuth 2.0 client.")
    refresh_token: str = credential(
        "OAuth 2.0 refresh token with the scope https://www.googleapis.com/auth/drive."
    )
    folder_id: str = required(
        "ID of the folder to monitor: the last part of its address in the browser.", format=Format.ID
    )
    check_interval: float | None = setting(
        "Minutes between two checks; fractions are allowed. Default: 10.", format=Format.INTERVAL_MINUTES
    )
    file_types: str = setting(
        "Comma-separated extensions to watch, for example pdf,docx,xlsx. Empty: every file.",
        format=Format.CSV,
    )
    webhook_url: str = setting(
        "Public https address at which Google Drive reports changes. Default: this instance's webhook URL.",
        format=Format.URL,
    )
    knowledge_base_id: float | None = setting(
        "ID of a knowledge base into which the folder's files are fed: changed ones are read again, removed ones"
        " leave it. Without a resource that is all that is done.",
        check=lambda base: (
            None
            if isinstance(base, int | float) and base == int(base) and 0 < base < 2**31
            else "must be the ID of a knowledge base, a whole number"
        ),
    )
    redirect_uri: str = ""

    @property
    def extensions(self) -> set[str]:
        entries = (entry.strip().lower().lstrip(".") for entry in self.file_types.split(","))
        return set(filter(None, entries))


@value
class FileTarget(ChannelTarget):
    """The file that an answer is about, and the folder of the answer where it is not the configured one."""

    file_id: str = stored_as("fileId")
    name: str = ""
    folder: str = ""


CONFIG = ConfigModel(DriveConfig)
TARGET = JsonModel(FileTarget)

DEFINITION = ChannelDefinition(
    id="drive-folder",
    name="Google Drive folder",
    description="Watches a Google Drive folder, tells the resource of every new or changed file, and writes "
    "the answer as a text document into the same folder.",
    fields=CONFIG.fields,
    setup=SetupInstructions(
        title="Set up a Google Drive folder",
        steps=steps("""
            - In the Google Cloud console, create a project and enable the Google Drive API.
            - On the OAuth consent screen, add the scope https://www.googleapis.com/auth/drive and publish the
              app, or keep it internal (refresh tokens of an app in testing end after seven days).
            - Under Credentials, create an OAuth client ID of type Web application; note client ID and client
              secret.
            - Authorise the client once with access_type=offline (for example in the OAuth 2.0 Playground with
              your own credentials) and note the refresh token.
            - Open the folder in Google Drive and copy its ID from the address, after /folders/.
            - Create the instance here. Changes are found by polling, and reported at once where this instance's
              address is reachable for Google over https.
        """),
        docs_url="https://developers.google.com/workspace/drive/api/guides/about-sdk",
        webhook_required=False,
    ),
)
