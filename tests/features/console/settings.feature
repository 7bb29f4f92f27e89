Feature: Subscriptions, schedules and resources
  A person sees what is pushed, what runs by the clock and who answers, and tries each of it from the page.

  Scenario: An address is subscribed, and its log shows each push
    Given ann has a bot, and an address of hers waits for events
    When she subscribes the address to messages that come in, by keyboard alone
    Then the secret is shown, and it is not on the page that she sees next
    When somebody writes to her bot
    Then the log shows that the address took the message

  Scenario: A schedule runs now
    Given ann has a schedule
    When she runs it now
    Then the page says so, and soon that it worked

  Scenario: A resource is tried
    When ann asks the resource "agent::echo" "Is anybody there?" on its page
    Then the answer "Is anybody there?" is shown beside it
    When ann asks the resource "agent::no::such" "Hello?" on its page
    Then it is said beside it what is wrong with the id
