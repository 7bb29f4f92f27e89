Feature: Answers of a schedule go out through another instance
  Every morning a summary to Slack is one cron instance. Ann has a Slack bot, which is a member of the channel "room".

  Rule: The answer to a firing goes where the schedule says

    Scenario: To a channel
      Given a schedule that delivers to the channel through the Slack bot
      When it fires
      Then "Summary: all is well" stands in the channel once

    Scenario: To the default channel
      Given the bot has the channel as its default
      And a schedule that delivers through the Slack bot
      When it fires
      Then "Summary: all is well" stands in the channel once

    Scenario: To a conversation that a person began
      Given ada has written to the bot
      And a schedule that delivers to ada's conversation through the Slack bot
      When it fires
      Then "Summary: all is well" stands in the direct chat once

    Scenario: A firing that is worked on again
      Given a schedule that delivers to the channel through the Slack bot
      And the database goes away after the answer was sent on, before that is noted
      When it fires
      Then "Summary: all is well" stands in the channel once
      And the resource was asked twice

    Scenario: Without a destination answers go nowhere
      Given a schedule that delivers nowhere
      When it fires
      Then nothing is sent

    Scenario: A resource that has nothing to tell
      Given a schedule that delivers to the channel through the Slack bot
      And the resource answers nothing
      When it fires
      Then nothing is sent
      And the schedule is healthy

    Scenario: Files go along
      Given a schedule that delivers to the channel through the Slack bot
      And the resource answers with a file
      When it fires
      Then the file is in the channel

    Scenario: Choices go along
      Given a schedule that delivers to the channel through the Slack bot
      And the resource offers "Restart" and "Leave it"
      When it fires
      Then the channel shows the buttons "Restart" and "Leave it"

    Scenario: An administrator saves the schedule of somebody else
      Given a schedule that delivers to the channel through the Slack bot
      When admin saves it again
      And it fires
      Then "Summary: all is well" stands in the channel once

    Scenario: A colleague who manages the schedule, and may not send with the Slack bot
      Given a schedule that delivers to the channel through the Slack bot
      And bob manages the schedule
      When bob changes what it asks
      Then the request is done
      When bob changes where in Slack it delivers to
      Then the request is refused, naming deliverInstanceId
      When bob may answer with the Slack bot
      And bob changes where in Slack it delivers to
      Then the request is done

  Rule: What fails is a matter of the schedule

    Scenario: The resource fails
      Given a schedule that delivers to the channel through the Slack bot
      And the resource fails
      When it fires
      Then nothing is sent
      And the schedule's health tells of the resource

    Scenario: The resource asks for an approval
      Given a schedule that delivers to the channel through the Slack bot
      And the resource asks for an approval
      When it fires
      Then nothing is sent
      And the schedule's health says that nobody can give it

    Scenario: The Slack bot is gone
      Given a schedule that delivers to the channel through the Slack bot
      And ann deletes the Slack bot
      When it fires
      Then the schedule's health says that there is no such instance

    Scenario: An address that is none
      Given a schedule that delivers to "#general" through the Slack bot
      When it fires
      Then the schedule's health says what an address is

    Scenario: It works again
      Given a schedule that delivers to the channel through the Slack bot
      And the resource fails
      When it fires
      And the schedule's health tells of the resource
      And the resource works again
      And it fires
      Then "Summary: all is well" stands in the channel once
      And the schedule is healthy

  Rule: A destination that cannot work is refused when the schedule is saved

    Scenario Outline: <destination>
      When ann asks for a schedule that delivers <destination>
      Then the request is refused, naming <field>

      Examples:
        | destination                                | field             |
        | through an instance that does not exist    | deliverInstanceId |
        | through bob's Slack bot                    | deliverInstanceId |
        | through another schedule                   | deliverInstanceId |
        | through half an instance                   | deliverInstanceId |
        | to the channel through no instance         | deliverInstanceId |
        | through the Slack bot without a channel    | deliverTo         |
        | to two lines through the Slack bot         | deliverTo         |

    Scenario: A schedule that is changed
      Given a schedule that delivers to the channel through the Slack bot
      When ann changes it to deliver through an instance that does not exist
      Then the request is refused, naming deliverInstanceId
