@s4.3
Feature: What a resource writes is shown as it is meant
  Resources answer in Markdown, with the additions that models are used to. Each channel shows them in its own way.

  Rule: Line breaks, tasks, footnotes and tags are shown as what they mean, on every channel

    Scenario Outline: <what> is shown
      When a resource answers "<markdown>"
      Then every channel shows "<text>"
      And no channel shows "<mark>"

      Examples:
        | what               | markdown                            | text        | mark |
        | a line break       | one<br>two                          | two         | <br  |
        | a task to be done  | - [ ] paint                         | ☐ paint     | [ ]  |
        | a task that is done | - [x] paint                        | ☑ paint     | [x]  |
        | a footnote         | paint[^1]\n\n[^1]: blue             | [1] blue    | [^1] |
        | a key              | press <kbd>F1</kbd>                 | F1          | kbd  |
        | a lower digit      | H<sub>2</sub>O                      | H₂O         | sub  |
        | a folded section   | <details><summary>a</summary>b</details> | b      | summ |

  Rule: Signs inside of words and numbers are no emphasis, on any channel

    Scenario Outline: <text>
      When a resource answers "<text>"
      Then every channel shows "<text>"

      Examples:
        | text        |
        | 2*3*4 = 24  |
        | 2**3**4     |
        | 5*x*y       |
        | a_b_c       |
        | foo**bar**x |

  Rule: Nothing that is written is lost, on any channel

    Scenario Outline: The text beside <what> is kept
      When a resource answers "<markdown>"
      Then every channel shows "hello"

      Examples:
        | what                      | markdown                                 |
        | a name before a colon     | [Anna]: hello\n\nbye                     |
        | a cell too many           | \| a \|\n\|---\|\n\| b \| hello \|        |
        | very many stars           | ************************************hello************************************ |
