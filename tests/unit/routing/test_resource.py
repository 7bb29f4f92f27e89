"""Downstream resource ids, read strictly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.refusals import Invalid
from domain.routing.model import Resource, ResourceKind
from domain.routing.resource import parse_resource

AGENT, APP = ResourceKind.AGENT, ResourceKind.APP
WORKFLOW, FUNCTION = ResourceKind.WORKFLOW, ResourceKind.FUNCTION


@pytest.mark.parametrize(
    ("text", "resource", "canonical"),
    [
        ("agent::helper_2", Resource(AGENT, "helper", 2), "agent::helper_2"),
        ("agent::helper", Resource(AGENT, "helper", 0), "agent::helper_0"),
        ("agent::my_own_helper", Resource(AGENT, "my_own_helper", 0), "agent::my_own_helper_0"),
        ("agent::my_own_helper_3", Resource(AGENT, "my_own_helper", 3), "agent::my_own_helper_3"),
        ("agent::release_2_1", Resource(AGENT, "release_2", 1), "agent::release_2_1"),
        ("agent::helper_007", Resource(AGENT, "helper", 7), "agent::helper_7"),
        ("agent::helper_2b", Resource(AGENT, "helper_2b", 0), "agent::helper_2b_0"),
        ("agent::helper_", Resource(AGENT, "helper_", 0), "agent::helper__0"),
        ("agent::helper_-1", Resource(AGENT, "helper_-1", 0), "agent::helper_-1_0"),
        ("agent::helper_\u0663", Resource(AGENT, "helper_\u0663", 0), "agent::helper_\u0663_0"),
        ("agent::42", Resource(AGENT, "42", 0), "agent::42_0"),
        ("agent::kb-12", Resource(AGENT, "kb-12", 0), "agent::kb-12_0"),
        ("agent::a_2147483647", Resource(AGENT, "a", 2147483647), "agent::a_2147483647"),
        ("app::crm_1", Resource(APP, "crm", 1), "app::crm_1"),
        ("app::crm", Resource(APP, "crm", 0), "app::crm_0"),
        ("workflow::onboarding_2", Resource(WORKFLOW, "onboarding_2"), "workflow::onboarding_2"),
        ("function::sum", Resource(FUNCTION, "sum"), "function::sum"),
        ("helper", Resource(AGENT, "helper", 0), "agent::helper_0"),
        ("helper_2", Resource(AGENT, "helper_2", 0), "agent::helper_2_0"),
        ("urn:agent:7", Resource(AGENT, "urn:agent:7", 0), "agent::urn:agent:7_0"),
        (
            "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
            Resource(AGENT, "6f9619ff-8b86-d011-b42d-00cf4fc964ff", 0),
            None,
        ),
        ("workflow::" + "x" * 256, Resource(WORKFLOW, "x" * 256), None),
    ],
)
def test_a_resource_id_is_read(text: str, resource: Resource, canonical: str | None) -> None:
    assert parse_resource(text) == resource
    assert canonical is None or str(resource) == canonical


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty id"),
        ("agent::", "empty id"),
        ("agent::_3", "empty id"),
        ("app::", "empty id"),
        ("workflow::", "empty id"),
        ("function::", "empty id"),
        ("::helper", "unknown prefix"),
        ("robot::helper", "unknown prefix"),
        ("Agent::helper", "unknown prefix"),
        (" agent::helper", "unknown prefix"),
        ("agent:helper", "one colon"),
        ("workflow:", "one colon"),
        ("agent::a::b", "'::' inside"),
        ("workflow::a::b", "'::' inside"),
        ("agent:: helper", "white space"),
        ("agent::helper ", "white space"),
        ("agent::hel per", "white space"),
        ("helper\n", "white space"),
        ("agent::a\x00", "control characters"),
        ("agent::a\u200b", "control characters"),
        ("agent::a\u00a0b", "white space"),
        ("agent::a\ud800", "control characters"),
        ("agent::helper\n_3", "white space"),
        ("agent::" + "x" * 257, "over 256"),
        ("x" * 257, "over 256"),
        ("agent::a_2147483648", "expert index over"),
        ("agent::a_" + "9" * 200, "expert index over"),
        ("agent::a_" + "9" * 5000, "over 300"),
    ],
)
def test_a_bad_resource_id_is_refused_with_the_field_and_the_formats(text: str, what: str) -> None:
    with pytest.raises(Invalid, match=what) as caught:
        parse_resource(text)

    assert [fault.field for fault in caught.value.faults] == ["downStreamResourceId"]
    assert "workflow::<workflow_id>" in caught.value.message
    assert "agent::<agent_id>_<expert_index>" in caught.value.message


@given(
    st.text(max_size=40) | st.from_regex(r"(agent|app|workflow|function)::[a-z_0-9:]{0,12}", fullmatch=True)
)
def test_any_text_is_refused_or_has_a_canonical_form_that_reads_the_same(text: str) -> None:
    try:
        resource = parse_resource(text)
    except Invalid:
        return
    assert parse_resource(str(resource)) == resource
