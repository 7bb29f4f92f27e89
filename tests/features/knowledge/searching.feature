@s2.11 @s4.6
Feature: Searching a knowledge base
  Text and meaning are searched at once; the better of the two scores counts.

  Background:
    Given ann has the base "Handbook"
    And ann has uploaded "pumps.txt" saying "The cooling pump of hall seven is serviced every March. Its part number is INV-2024-00317."
    And ann has uploaded "valves.txt" saying "Valves are stored in the cellar. Their part number is INV-2024-00318."
    And ann has uploaded "arabic.txt" saying "تقع المكتبة الرئيسية في الطابق الثالث من المبنى"

  Rule: The most relevant chunk comes first

    Scenario Outline: Codes, typing errors, other scripts
      When ann searches for "<query>"
      Then the request is "done"
      And the first result is from "<file>"
      And results fall in similarity from 0 to 1, each chunk once, at most ten

      Examples:
        | query                                | file       |
        | INV-2024-00317                       | pumps.txt  |
        | what is the number INV-2024-00318    | valves.txt |
        | inv 2024 00317                       | pumps.txt  |
        | what is INV2024-00318                | valves.txt |
        | coolng pump                          | pumps.txt  |
        | مكتبه رئيسيه                         | arabic.txt |
        | أين تقع المكتبة                      | arabic.txt |

  Rule: In a language that the model is not made for, words tell more than likeness

    @grpc
    Scenario: A question in Spanish
      Given ann has uploaded "filtro.txt" saying "La bomba arranca sola cuando sube el nivel. Su filtro, que está en el sótano, se limpia cada tres meses; las averías se notifican al conserje, que llama al técnico."
      And ann has uploaded "techo.txt" saying "Del suelo al techo: el del norte, el del sur."
      When ann searches for "el filtro del sótano"
      Then the request is "done"
      And the first result is from "filtro.txt"

  Rule: A query is needed

    Scenario Outline: No query
      When ann sends <query> to be searched for
      Then the request is "invalid"
      And the error names "query"

      Examples:
        | query                 |
        | no query              |
        | an empty query        |
        | a query of spaces     |
        | a number as the query |
