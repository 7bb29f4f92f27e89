"""Mails that are not answered."""


def headers_of(reason: str, own_address: object) -> dict[str, object]:
    """The headers of a mail that is not answered for that reason; of an ordinary one for others."""
    sender: object = "Ann <ann@client.example>"
    more: dict[str, str] = {}
    match reason:
        case "own-mail":
            sender = own_address
        case "auto-submitted":
            more = {"Auto-Submitted": "auto-generated"}
        case "bulk":
            more = {"Precedence": "bulk"}
        case "list":
            more = {"List-Id": "<news.shop.example>"}
        case "bounce":
            more = {"Return-Path": "<>"}
        case "auto-reply":
            more = {"X-Autoreply": "yes"}
        case "no-reply":
            sender = "no-reply@shop.example"
        case "no-sender":
            return {"Subject": "News"}
    return {"From": sender, "Subject": "News", "Message-ID": f"<{reason}@client.example>", **more}
