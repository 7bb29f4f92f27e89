from domain.refusals import Fault, Invalid


async def test_an_invalid_refusal_names_every_field_at_fault() -> None:
    refusal = Invalid.of(
        [Fault("config.smtpPort", "must be a number"), Fault("config.username", "is missing")]
    )

    assert refusal.message == "config.smtpPort: must be a number; config.username: is missing"
    assert [fault.field for fault in refusal.faults] == ["config.smtpPort", "config.username"]
