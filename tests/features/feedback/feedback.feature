Feature: Feedback on answers
  Where an instance asks for feedback, people say by a thumb or a reaction whether an answer helped.

  Rule: Two thumbs stand below each answer of the resource

    Scenario Outline: An answer is liked on <platform>
      Given a bot on <platform> that asks for feedback
      When "ada" writes "How do I start the pump?"
      Then the answer has the buttons "👍" and "👎"
      When "ada" presses "👍"
      Then ann sees one vote: "up" of "ada" on "Press the red button."
      And the resource is not asked about the press
      And "ada" is told "Thank you for your feedback."

      Examples:
        | platform   |
        | Slack      |
        | Discord    |
        | Telegram   |
        | Mattermost |

    Scenario: An answer is disliked in Teams, which has thumbs of its own
      Given a bot on Teams that asks for feedback
      When "ada" writes "How do I start the pump?"
      Then the answer asks Teams for its thumbs
      When "ada" presses the thumb of Teams that points down
      Then ann sees one vote: "down" of "ada" on "Press the red button."
      And the resource is not asked about the press

    Scenario: The thumbs stand beside choices
      Given a bot on Slack that asks for feedback
      And its resource offers "Small" and "Large"
      When "ada" writes "a shirt"
      Then the answer has the buttons "Small", "Large", "👍" and "👎"

    Scenario: A platform without such buttons shows none
      Given a bot on WhatsApp that asks for feedback
      When "ada" writes "How do I start the pump?"
      Then the answer has no buttons

    Scenario: Neither apologies nor questions about tools have thumbs
      Given a bot on Slack that asks for feedback
      When "ada" writes "open the valve"
      Then the answer has the buttons "Approve", "Approve session" and "Reject"

    Scenario: An instance that does not ask shows none
      Given a bot on Slack
      When "ada" writes "How do I start the pump?"
      Then the answer has no buttons

  Rule: A person has one vote on an answer

    Scenario: A person changes their mind, another one agrees
      Given a bot on Slack that asks for feedback
      When "ada" writes "How do I start the pump?"
      And "ada" presses "👍"
      And "ada" presses "👎"
      And "ada" presses "👎"
      And "bob" presses "👍"
      Then ann sees the votes "up" of "bob" and "down" of "ada"

    Scenario: A made-up button counts for nothing
      Given a bot on Telegram that asks for feedback
      When "ada" writes "How do I start the pump?"
      And "ada" presses a thumb with another proof
      Then ann sees no votes
      And "ada" is told "This answer is no longer known."

    Scenario: An old thumb after feedback was switched off
      Given a bot on Slack that asks for feedback
      When "ada" writes "How do I start the pump?"
      And feedback is switched off
      And "ada" presses "👍"
      Then the resource is not asked about the press

  Rule: Reactions to an answer count too

    Scenario Outline: A reaction on <platform>, <handed on>
      Given a bot on <platform> that asks for feedback, and whose reactions are <handed on>
      When "ada" writes "How do I start the pump?"
      And "ada" reacts with "<reaction>"
      Then ann sees <votes>
      And the resource gets <requests>

      Examples:
        | platform | handed on     | reaction | votes                  | requests      |
        | Slack    | not handed on | 👍🏽       | one vote "up"          | no reaction   |
        | Slack    | handed on     | 👎       | one vote "down"        | one reaction  |
        | Slack    | not handed on | 🎉       | no votes               | no reaction   |
        | WhatsApp | not handed on | 👎       | one vote "down"        | no reaction   |

  Rule: Owners see votes with what the answer stood on

    Scenario: The list and the export
      Given a bot on Slack that asks for feedback
      And its resource cites page 3 of "manual.pdf"
      When "ada" writes "How do I start the pump?"
      And "ada" presses "👎"
      Then the vote shows the question, the resource and the passage of "manual.pdf"
      And the votes "down" of all bots are one, the votes "up" none
      And the export as CSV and as lines of JSON has the question and the answer
      And bob sees none of it
      And the page of answers that people did not like shows the question and "manual.pdf"

    @grpc
    Scenario: A gateway of its own shows the same
      Given a bot on Slack that asks for feedback
      And its resource cites page 3 of "manual.pdf"
      When "ada" writes "How do I start the pump?"
      And "ada" presses "👎"
      Then the vote shows the question, the resource and the passage of "manual.pdf"

    Scenario: A long list comes in pages
      Given a bot on Slack that asks for feedback
      When "ada" writes and presses "👍" 3 times
      Then ann sees the 3 votes in pages of 2

    Scenario Outline: What a spreadsheet would run is a text in the export: <question>
      Given a bot on Slack that asks for feedback
      When "ada" writes "<question>"
      And "ada" presses "👎"
      Then the export has "'<question>" in its place

      Examples:
        | question      |
        | =HYPERLINK(1) |
        | ＝HYPERLINK(1) |

  Rule: Votes go with the conversation

    Scenario: A conversation is erased
      Given a bot on Slack that asks for feedback
      When "ada" writes "How do I start the pump?"
      And "ada" presses "👎"
      And the conversation is erased
      Then ann sees no votes
      And no row of a vote is left

  Rule: Programs hear of votes

    Scenario: An event for each vote
      Given somebody listens to events
      And a bot on Slack that asks for feedback
      When "ada" writes "How do I start the pump?"
      And "ada" presses "👎"
      And "ada" presses "👎"
      Then one event tells of the vote "down", the answer and the resource
