Feature: Groups and channels
  In a group people talk to each other. The bot answers where it is addressed, and where it may.

  Rule: In groups the bot answers where it is addressed

    Scenario Outline: A message to somebody else on <platform>
      Given a bot on <platform> that requires a mention
      When Bob writes "Is it hot?" in the group
      Then nobody is asked

      Examples:
        | platform |
        | Telegram |
        | Slack    |
        | Discord  |
        | Teams    |

    Scenario Outline: A mention on <platform>
      Given a bot on <platform> that requires a mention
      When Bob mentions the bot in the group with "Is it hot?"
      Then the resource is asked "Is it hot?"

      Examples:
        | platform |
        | Telegram |
        | Slack    |
        | Discord  |
        | Teams    |

    Scenario Outline: A bot that answers every message on <platform>
      Given a bot on <platform> that requires no mention
      When Bob writes "Is it hot?" in the group
      Then the resource is asked "Is it hot?"

      Examples:
        | platform |
        | Telegram |
        | Slack    |
        | Discord  |
        | Teams    |

  Rule: The bot answers in the groups that were chosen

    Scenario Outline: A mention in another group on <platform>
      Given a bot on <platform> that may answer in another group alone
      When Bob mentions the bot in the group with "Is it hot?"
      Then nobody is asked
      And it is counted as of a group that is not allowed
      And "Is it hot?" is listed as not answered, because of "channel"

      Examples:
        | platform |
        | Telegram |
        | Slack    |
        | Discord  |
        | Teams    |

    Scenario Outline: A direct message on <platform>
      Given a bot on <platform> that may answer in another group alone
      When Ada writes "Is it hot?"
      Then the resource is asked "Is it hot?"

      Examples:
        | platform |
        | Telegram |
        | Discord  |
        | Teams    |

  Rule: A message that is refused is listed until somebody releases it

    Scenario Outline: A mention in another group is released on <platform>
      Given a bot on <platform> that may answer in another group alone
      When Bob mentions the bot in the group with "Is it hot?"
      And the message is released
      Then the resource is asked "Is it hot?"
      And nothing is listed as not answered

      Examples:
        | platform |
        | Telegram |
        | Slack    |
        | Discord  |
        | Teams    |

    Scenario Outline: What people say to each other in another group on <platform>
      Given a bot on <platform> that may answer in another group alone
      When Bob writes "Is it hot?" in the group
      Then nobody is asked
      And nothing is listed as not answered

      Examples:
        | platform |
        | Telegram |
        | Slack    |
        | Discord  |
        | Teams    |

    Scenario: A person who is not verified
      Given a bot on Telegram that serves verified users alone
      When Ada writes "Is it hot?"
      Then "Is it hot?" is listed as not answered, because of "not-verified"

    Scenario: A message of a person who is not verified is released
      Given a bot on Telegram that serves verified users alone
      When Ada writes "Is it hot?"
      And the message is released
      Then the resource is asked "Is it hot?"
      And nothing is listed as not answered
