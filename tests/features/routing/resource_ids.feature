Feature: A resource id names what answers
  An instance is bound to a downstream resource by an id. The id says what kind of resource it is, which one,
  and for agents and applications which of its experts.

  Rule: The prefix names the kind, a trailing number the expert

    @s2.5
    Scenario Outline: The id <text>
      When the resource id "<text>" is read
      Then it names the <kind> "<id>" with expert <expert>

      Examples:
        | text                    | kind     | id              | expert |
        | agent::support_2        | agent    | support         | 2      |
        | agent::support          | agent    | support         | 0      |
        | agent::first_line_3     | agent    | first_line      | 3      |
        | agent::first_line       | agent    | first_line      | 0      |
        | agent::release_2_1      | agent    | release_2       | 1      |
        | app::crm_4              | app      | crm             | 4      |
        | app::crm                | app      | crm             | 0      |
        | workflow::onboarding    | workflow | onboarding      | none   |
        | workflow::onboarding_2  | workflow | onboarding_2    | none   |
        | function::add_up        | function | add_up          | none   |

  Rule: A bare id is an agent's, with expert 0

    @s2.5
    Scenario Outline: The bare id <text>
      When the resource id "<text>" is read
      Then it names the agent "<text>" with expert 0
      And its canonical form is "<canonical>"

      Examples:
        | text      | canonical          |
        | support   | agent::support_0   |
        | support_2 | agent::support_2_0 |

  Rule: What is not one of these forms is refused

    @s2.5
    Scenario Outline: The id "<text>" is refused
      When the resource id "<text>" is read
      Then it is refused because it <reason>
      And the refusal names the field and the accepted forms

      Examples:
        | text                | reason                                    |
        |                     | has an empty id                           |
        | agent::             | has an empty id                           |
        | agent::_1           | has an empty id                           |
        | robot::support      | has an unknown prefix                     |
        | Agent::support      | has an unknown prefix                     |
        | agent:support       | has one colon after the prefix            |
        | agent::two words    | has white space or control characters     |
        | agent::a_4294967296 | has an expert index over 2147483647       |
