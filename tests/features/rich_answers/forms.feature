Feature: Forms
  A resource may ask by a form. Where the platform has no dialog for it, the questions are asked one after the other,
  and each answer is checked. The values come back to the resource as one message.

  Background:
    Given a resource that asks by a form for "How many?" as a number from 1 to 9, for "Size" with the options "Small" and "Large", and for "Remark" as a text that may be left out

  Rule: The questions are asked one after the other

    Scenario Outline: A form is filled in on <platform>
      When "ada" writes "order" to the bot alone on <platform>
      Then "ada" is asked "How many?"
      When "ada" writes "3"
      Then "ada" is asked "Size"
      When "ada" writes "Large"
      Then "ada" is asked "Remark"
      When "ada" writes "by Friday"
      Then the resource gets the form of "ada" with the number 3, the size "large" and the remark "by Friday"
      And the text of the request lists "How many?: 3", "Size: Large" and "Remark: by Friday"

      Examples:
        | platform   |
        | SMS        |
        | WhatsApp   |
        | Telegram   |
        | Mattermost |

    Scenario: An answer that does not fit is asked again
      When "ada" writes "order" to the bot alone on SMS
      And "ada" writes "many"
      Then "ada" is told "This is not a number"
      And "ada" is told "Write exit to give up"
      And "ada" is asked "How many?"
      When "ada" writes "12"
      Then "ada" is told "The number must be at most 9"
      When "ada" writes "3"
      Then "ada" is asked "Size"

    Scenario: Three answers that do not fit end the form
      When "ada" writes "order" to the bot alone on SMS
      And "ada" writes "many"
      And "ada" writes "a lot"
      And "ada" writes "lots"
      Then "ada" is told "The form was cancelled"
      When "ada" writes "3"
      Then the resource gets the message "3" of "ada"

    Scenario: The options of a question are buttons where the platform has them
      When "ada" writes "order" to the bot alone on Telegram
      And "ada" writes "3"
      Then the message has the buttons "Small" and "Large"
      When "ada" presses "Small"
      And "ada" writes "skip"
      Then the resource gets the form of "ada" with the number 3, the size "small" and no remark

    Scenario Outline: A pressed option is that option, whatever its label
      Given a resource whose form asks for one of "Cancel", "Skip", "2" and "skip"
      When "ada" writes "order" to the bot alone on Telegram
      And "ada" presses "<label>"
      Then the resource gets the form of "ada" with the answer "<value>"

      Examples:
        | label  | value  |
        | Cancel | 2      |
        | Skip   | cancel |
        | 2      | skip   |
        | skip   | -      |

    Scenario: The options are numbered where there are no buttons
      When "ada" writes "order" to the bot alone on SMS
      And "ada" writes "3"
      Then "ada" is told "2. Large"
      When "ada" writes "2"
      And "ada" writes "-"
      Then the resource gets the form of "ada" with the number 3, the size "large" and no remark

  Rule: A form belongs to the person who was asked

    Scenario Outline: Somebody else of a group writes on <platform>
      When "ada" writes "order" on <platform>
      And "bob" writes "hello"
      Then the resource gets the message "hello" of "bob"
      When "ada" writes "3"
      Then the resource gets no further message

      Examples:
        | platform   |
        | Telegram   |
        | Mattermost |

    Scenario: Somebody else of a group presses an option
      When "ada" writes "order" on Telegram
      And "ada" writes "3"
      And "bob" presses "Small"
      Then "bob" is told "This form is closed, or it was meant for somebody else."
      And the resource gets no further message

  Rule: A form ends

    Scenario Outline: It is cancelled
      When "ada" writes "order" to the bot alone on <platform>
      And "ada" writes "<word>"
      Then "ada" is told "The form was cancelled. Nothing was sent."
      When "ada" writes "3"
      Then the resource gets the message "3" of "ada"

      Examples:
        | platform | word      |
        | SMS      | exit      |
        | WhatsApp | Cancel    |
        | WhatsApp | abbrechen |

    Scenario: It is left alone for a day
      When "ada" writes "order" to the bot alone on SMS
      And 24 hours pass
      And "ada" writes "3"
      Then the resource gets the message "3" of "ada"

    Scenario: A message that is changed after it was taken is no answer to the next question
      When "ada" writes "order" to the bot alone on Telegram
      And "ada" writes "3"
      And "ada" changes her message to "Large"
      Then the resource gets the message "Large" of "ada"
      When "ada" writes "Small"
      And "ada" writes "skip"
      Then the resource gets the form of "ada" with the number 3, the size "small" and no remark

    Scenario: Another form takes its place
      When "ada" writes "order" to the bot alone on Telegram
      And "ada" writes "3"
      And the form of "ada" is replaced by another one
      And "ada" presses "Small" of the first question with buttons
      Then "ada" is told "This form is closed, or it was meant for somebody else."

    Scenario: An option is pressed twice
      When "ada" writes "order" to the bot alone on Telegram
      And "ada" writes "3"
      And "ada" presses "Small" twice, at once
      Then "ada" is asked "Remark" once

    Scenario: The service is restarted meanwhile
      When "ada" writes "order" to the bot alone on SMS
      And "ada" writes "3"
      And the service is restarted
      And "ada" writes "Large"
      And "ada" writes "skip"
      Then the resource gets the form of "ada" with the number 3, the size "large" and no remark

    Scenario: The resource fails at the end
      When "ada" writes "order" to the bot alone on SMS
      And "ada" writes "3"
      And "ada" writes "Large"
      And "ada" writes "soon", and the resource fails
      And "ada" writes "soon"
      Then the resource gets the form of "ada" with the number 3, the size "large" and the remark "soon"

  Rule: The values come again with a decision about a tool

    Scenario: A tool is asked about after the form
      When "ada" writes "order" to the bot alone on SMS
      And "ada" writes "3"
      And "ada" writes "Large"
      And "ada" writes "soon", and the resource asks whether it may use a tool
      And "ada" writes "yes"
      Then the resource gets the decision "approved"
      And the resource gets the form of "ada" with the number 3, the size "large" and the remark "soon"

    Scenario: The service is restarted before the decision, and another tool is asked about
      When "ada" writes "order" to the bot alone on SMS
      And "ada" writes "3"
      And "ada" writes "Large"
      And "ada" writes "soon", and the resource asks whether it may use a tool
      And the service is restarted
      And "ada" writes "no", and the resource asks whether it may use a tool
      And "ada" writes "yes"
      Then the resource gets the decision "approved"
      And the resource gets the form of "ada" with the number 3, the size "large" and the remark "soon"

    Scenario: A message after the decision has no values
      When "ada" writes "order" to the bot alone on SMS
      And "ada" writes "3"
      And "ada" writes "Large"
      And "ada" writes "soon", and the resource asks whether it may use a tool
      And "ada" writes "yes"
      And "ada" writes "hello"
      Then the resource gets the message "hello" of "ada"

  Rule: Programs at an HTTP webhook send a form by its reference

    Scenario: A form is sent
      When a program calls the webhook with "order"
      And it sends the form with the number 3 and the size "large"
      Then the resource gets the form of the program with the number 3 and the size "large"

    Scenario: A form is sent twice
      When a program calls the webhook with "order"
      And it sends the form with the number 3 and the size "large"
      And it sends the form with the number 3 and the size "large"
      Then the resource gets the form once
      And the program is told "This form is closed, or it was meant for somebody else."

    Scenario: A value does not fit
      When a program calls the webhook with "order"
      And it sends the form with the number 12 and the size "large"
      Then the program is told "The number must be at most 9"
      When it sends the form with the number 3 and the size "large"
      Then the resource gets the form of the program with the number 3 and the size "large"

    Scenario: A reference that nobody was given
      When a program calls the webhook with "order"
      And it sends a form by another reference
      Then the program is told "This form is closed, or it was meant for somebody else."
      And the resource gets no further message

  Rule: Slack and Discord show a form in a dialog, Teams as a card

    Scenario Outline: A form is filled in at once on <platform>
      When "ada" writes "order" to the bot alone on <platform>
      And "ada" opens the form
      And "ada" sends the form with the number "3", the size "large" and the remark "by Friday"
      Then the resource gets the form of "ada" with the number 3, the size "large" and the remark "by Friday"
      And the form shows that it was sent, without buttons

      Examples:
        | platform |
        | Slack    |
        | Discord  |
        | Teams    |

    Scenario Outline: A value that does not fit on <platform>
      When "ada" writes "order" to the bot alone on <platform>
      And "ada" opens the form
      And "ada" sends the form with the number "many", the size "large" and the remark "by Friday"
      Then the resource gets no further message
      And "ada" is told "This is not a number"
      When "ada" sends the form again with the number "3", the size "large" and the remark "by Friday"
      Then the resource gets the form of "ada" with the number 3, the size "large" and the remark "by Friday"

      Examples:
        | platform |
        | Slack    |
        | Discord  |
        | Teams    |

    Scenario: The dialog of Discord is opened again with what did fit
      When "ada" writes "order" to the bot alone on Discord
      And "ada" opens the form
      And "ada" sends the form with the number "many", the size "large" and the remark "by Friday"
      And "ada" opens the form
      Then the dialog shows the size "large" and the remark "by Friday", and no number

    Scenario Outline: A form is sent twice on <platform>
      When "ada" writes "order" to the bot alone on <platform>
      And "ada" opens the form
      And "ada" sends the form with the number "3", the size "large" and the remark "by Friday" twice
      Then the resource gets the form once

      Examples:
        | platform |
        | Slack    |
        | Discord  |
        | Teams    |

    Scenario Outline: The history says what a form on <platform> asked for
      When "ada" writes "order" to the bot alone on <platform>
      Then the answer in the history names "Your order"

      Examples:
        | platform |
        | Slack    |
        | Discord  |
        | Teams    |
        | SMS      |

    Scenario: A form is open in two dialogs of Discord
      When "ada" writes "order" to the bot alone on Discord
      And "ada" opens the form
      And "ada" opens the form
      And "ada" sends the form with the number "3", the size "large" and the remark "by Friday"
      And "ada" sends the form with the number "4", the size "small" and the remark "by Monday"
      Then the resource gets the form once
      And "ada" is told "This form is closed, or it was meant for somebody else."

    Scenario Outline: Somebody else of a group opens or sends the form on <platform>
      When "ada" writes "order" on <platform>
      And "bob" opens the form
      And "bob" sends the form of "ada"
      Then "bob" is told "This form is closed, or it was meant for somebody else."
      And the resource gets no further message

      Examples:
        | platform |
        | Slack    |
        | Discord  |
        | Teams    |

    Scenario Outline: A message beside an open form on <platform> is a message like any other
      When "ada" writes "order" to the bot alone on <platform>
      And "ada" writes "hello"
      Then the resource gets the message "hello" of "ada"

      Examples:
        | platform |
        | Slack    |
        | Discord  |
        | Teams    |

    Scenario Outline: A form is sent on <platform> after a restart and a day later
      When "ada" writes "order" to the bot alone on <platform>
      And the service is restarted
      And "ada" opens the form
      And 24 hours pass
      And "ada" sends the form with the number "3", the size "large" and the remark "by Friday"
      Then "ada" is told "This form is closed, or it was meant for somebody else."

      Examples:
        | platform |
        | Slack    |
        | Discord  |
        | Teams    |
