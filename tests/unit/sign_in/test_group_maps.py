"""`OIDC_ROLE_MAP`, `OIDC_TEAM_MAP` and `OIDC_ALLOWED_DOMAINS` as operators write them."""

from pathlib import Path

import pytest

from apps.setting_types import SettingsError
from apps.settings import Settings
from apps.settings_loading import load
from apps.sign_in import rules
from domain.access.model import Role
from domain.access.single_sign_on import SignInRules
from domain.refusals import Forbidden


def settings_of(folder: Path, **settings: str) -> Settings:
    return load({"DATA_DIR": str(folder), **settings}, env_file=None)


def rules_of(folder: Path, **settings: str) -> SignInRules:
    return rules(settings_of(folder, **settings))


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("", {}),
        (" , ,", {}),
        ("it=admin", {"it": "admin"}),
        (" staff = responder , it=admin,*=member,", {"staff": "responder", "it": "admin", "*": "member"}),
        ("a=b=admin", {"a=b": "admin"}),
        ("it=member,it=admin", {"it": "admin"}),
        ("/company/it=admin", {"/company/it": "admin"}),
        ('{"CN=IT,OU=Groups": "admin"}', {"CN=IT,OU=Groups": "admin"}),
        (' {"it": "admin", "*": "member"} ', {"it": "admin", "*": "member"}),
        ("{}", {}),
    ],
)
def test_a_map_of_roles(tmp_path: Path, text: str, roles: dict[str, str]) -> None:
    assert rules_of(tmp_path, OIDC_ROLE_MAP=text).roles == roles


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("admin", "must list group=name"),
        ("=admin", "must list group=name"),
        ("it=", "must list group=name"),
        ("it=admin,support", "must list group=name"),
        ("it=owner", "must name roles"),
        ("it=Admin", "must name roles"),
        ('{"it": "owner"}', "must name roles"),
        ('{"it": 1}', "must list group=name"),
        ('{"it": null}', "must list group=name"),
        ('{"it": ["admin"]}', "must list group=name"),
        ('{"it": {"role": "admin"}}', "must list group=name"),
        ('{"": "admin"}', "must list group=name"),
        ('{"it": ""}', "must list group=name"),
        ('{"it": "admin"', "OIDC_ROLE_MAP"),
        ('{"it": "admin"} x', "OIDC_ROLE_MAP"),
        ("{'it': 'admin'}", "OIDC_ROLE_MAP"),
    ],
)
def test_a_map_that_is_none_names_the_setting(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(SettingsError) as error:
        settings_of(tmp_path, OIDC_ROLE_MAP=text)
    assert fault.lower() in str(error.value).lower()


@pytest.mark.parametrize("text", ["Billing", "billing=", '{"billing": 1}', "{"])
def test_a_map_of_teams_that_is_none(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError):
        settings_of(tmp_path, OIDC_TEAM_MAP=text)


def test_the_highest_role_counts_and_everybody_is_in_the_star(tmp_path: Path) -> None:
    of_map = rules_of(tmp_path, OIDC_ROLE_MAP="it=admin,support=responder,*=member")
    assert of_map.role_of(frozenset()) is Role.MEMBER
    assert of_map.role_of(frozenset({"support"})) is Role.MEMBER
    assert of_map.role_of(frozenset({"support", "it"})) is Role.ADMIN
    assert of_map.role_of(frozenset({"IT"})) is Role.MEMBER


def test_who_is_in_no_group_of_the_map_has_no_role(tmp_path: Path) -> None:
    with pytest.raises(Forbidden):
        rules_of(tmp_path, OIDC_ROLE_MAP="it=admin").role_of(frozenset({"support"}))
    assert rules_of(tmp_path).role_of(frozenset({"support"})) is None


def test_teams_of_several_groups_and_of_everybody(tmp_path: Path) -> None:
    of_map = rules_of(tmp_path, OIDC_TEAM_MAP="a=Billing,b=Billing,c=Sales & Co,*=All")
    assert of_map.places(frozenset({"b"})) == {"Billing": True, "Sales & Co": False, "All": True}
    assert rules_of(tmp_path).places(frozenset({"b"})) == {}


@pytest.mark.parametrize(
    "text", ["example.com, Example.ORG", "@example.com,@EXAMPLE.org,", "example.com,,example.org"]
)
def test_domains(tmp_path: Path, text: str) -> None:
    of_domains = rules_of(tmp_path, OIDC_ALLOWED_DOMAINS=text)
    assert of_domains.domains == {"example.com", "example.org"}
    for email in (
        "ann@example.com.elsewhere.org",
        "ann@sub.example.com",
        "ann@xexample.com",
        "",
    ):
        with pytest.raises(Forbidden):
            of_domains.check_domain(email)
    of_domains.check_domain("ann@example.org")
