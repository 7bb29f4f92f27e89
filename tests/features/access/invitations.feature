Feature: Invitations
  An admin invites people who are no users yet. Without a mail server the admin gets the link and hands it over.

  Scenario: A person accepts, once
    Given there is a team "Billing"
    When admin invites "Ann@Example.com" as a responder into that team
    Then the answer has the link
    When somebody accepts it with the name "Ann Archer"
    Then they are signed in as the user "ann@example.com", a responder in the team "Billing"
    And the list says that "ann@example.com" accepted
    When somebody accepts it with the name "Eve"
    Then they are told that it is not open

  Scenario Outline: An invitation that is not open any more
    Given admin invites "ann@example.com" as a member
    When <what happens>
    And somebody accepts it with the name "Ann"
    Then they are told that it is not open
    And there is no user "ann@example.com"

    Examples:
      | what happens                               |
      | admin withdraws it                         |
      | 8 days pass                                |
      | admin invites the same address once more   |

  Scenario: The right link of two
    Given admin invites "ann@example.com" as a member
    And admin invites "bob@example.com" as a member
    When somebody accepts it with the name "Bob"
    Then they are signed in as the user "bob@example.com", a member in no team
    And the list says that "ann@example.com" did not accept

  Scenario Outline: Only admins invite
    Given admin invites "ann@example.com" as a member
    When bob <does something>
    Then that is forbidden

    Examples:
      | does something                      |
      | invites "eve@example.com"           |
      | lists the invitations               |
      | withdraws the invitation            |

  Scenario Outline: What cannot be invited
    Given there is a user "ann" with the address "ann@example.com"
    When admin invites <whom>
    Then that is refused, naming "<field>"

    Examples:
      | whom                                 | field |
      | "no address"                         | email |
      | "ann@example.com"                    | email |
      | "eve@example.com" into the team 4711 | teams |

  Scenario: The audit log tells of it
    Given admin invites "ann@example.com" as a member
    When somebody accepts it with the name "Ann"
    Then the audit log has "invitation.created" by admin, "invitation.accepted" and "session.opened" by "ann@example.com"

  Scenario: Links by mail need a mail server
    When somebody asks for a link by mail
    Then that is refused, as mail is not set up
