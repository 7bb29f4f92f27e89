Feature: Routes
  An instance may have routes: conditions, and the resource that answers where they hold. The first route that fits
  wins; where none does, the instance's own resource answers.

  Rule: The first route that fits decides

    Background:
      Given a bot of "agent::general" with these routes
        | to             | when                          |
        | agent::billing | matches refund* or my invoice |
        | agent::german  | language de                   |
        | agent::club    | group Chess club              |

    Scenario Outline: A message goes to one resource
      When Ada, whose language is "<language>", writes "<text>" <place>
      Then "<resource>" answers, and no other

      Examples:
        | language | text                   | place            | resource       |
        | en       | Hello                  | to the bot alone | agent::general |
        | de-AT    | Guten Tag              | to the bot alone | agent::german  |
        | de-AT    | Where are my refunds?! | to the bot alone | agent::billing |
        | en       | MY   INVOICE please    | to the bot alone | agent::billing |
        | en       | Hello                  | in the group     | agent::club    |

    Scenario: The timeline says which resource was asked, and why
      When Ada, whose language is "de", writes "Guten Tag" to the bot alone
      Then the timeline says that "agent::german_0" was asked by "route 2, language de"
      And the answer in the history is of "agent::german_0" by "route 2, language de"

    Scenario: A message that no route fits
      When Ada, whose language is "en", writes "Hello" to the bot alone
      Then the timeline says that "agent::general_0" was asked by no route

  Rule: Office hours are those of a place

    Scenario Outline: A message at <time> in Berlin
      Given a bot of "agent::night" with these routes
        | to          | when                                           |
        | agent::team | hours 09:00 to 17:00 Europe/Berlin on mon, tue |
      And it is <time> in Berlin
      When Ada, whose language is "en", writes "Hello" to the bot alone
      Then "<resource>" answers, and no other

      Examples:
        | time             | resource     |
        | 2027-03-01T08:59 | agent::night |
        | 2027-03-01T09:00 | agent::team  |
        | 2027-03-29T16:59 | agent::team  |
        | 2027-03-29T17:00 | agent::night |
        | 2027-03-31T12:00 | agent::night |

  Rule: A conversation stays on its side of a trial

    Scenario: Half of the conversations try a new version
      Given a bot of "agent::old" with these routes
        | to         | when      |
        | agent::new | share 0.5 |
      When 12 people write twice each
      Then each of them is answered twice by the same resource
      And both "agent::old" and "agent::new" have answered

  Rule: The answer to a question goes to the resource that asked

    Scenario Outline: <what> although another route fits by now
      Given a bot of "agent::general" with these routes
        | to             | when           |
        | agent::billing | matches refund |
      And its resources <ask>
      When Ada, whose language is "en", writes "a refund" to the bot alone
      And she <answers>
      Then "agent::billing" is asked twice, and no other

      Examples:
        | what        | ask                               | answers         |
        | An approval | ask whether they may open a valve | replies "yes"   |
        | A choice    | offer "Small" and "Large"         | presses "Large" |

    Scenario: A resource that the instance does not name any more gets no answer to its old question
      Given a bot of "agent::general" with these routes
        | to             | when           |
        | agent::billing | matches refund |
      And its resources offer "Small" and "Large"
      When Ada, whose language is "en", writes "a refund" to the bot alone
      And the routes are taken away
      And she presses "Large"
      Then the resources "agent::billing" and "agent::general" are asked, in this order

  Rule: Routes are part of the instance

    @grpc
    Scenario: Routes are shown as they were saved, with lists for single words
      Given a bot of "agent::general" with these routes
        | to             | when                                                            |
        | agent::billing | matches refund; verified; not in a group; label vip; share 0.25 |
        | agent::club    | language de or fr; group Chess club; hours 22:00 to 06:00       |
        | agent::rest    | always                                                          |
      Then the instance has these routes
        | to             | when                                                            |
        | agent::billing | matches refund; verified; not in a group; label vip; share 0.25 |
        | agent::club    | language de or fr; group Chess club; hours 22:00 to 06:00 UTC   |
        | agent::rest    | always                                                          |

    @grpc
    Scenario: A change that says nothing of routes leaves them, an empty list takes them away
      Given a bot of "agent::general" with these routes
        | to             | when           |
        | agent::billing | matches refund |
      When the instance is changed without a word on routes
      Then the instance has 1 route and 1 fallback
      When the instance is changed with empty lists
      Then the instance shows neither routes nor a fallback

    @grpc
    Scenario Outline: A route that is none: <when>
      When a bot is made whose second route is to "<to>" when <when>
      Then it is refused, and the error names "<field>"

      Examples:
        | to       | when                      | field                         |
        | robot::x | always                    | routes[1].to                  |
        | agent::x | hours 9 to 17:00          | routes[1].when.hours.from     |
        | agent::x | hours 09:00 to 17:00 Mars | routes[1].when.hours.timeZone |
        | agent::x | share 2                   | routes[1].when.share          |
        | agent::x | matches ***               | routes[1].when.matches[0]     |
        | agent::x | weather rain              | routes[1].when.weather        |
