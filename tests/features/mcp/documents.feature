Feature: Documents for AI clients
  A model that connects by MCP finds and reads what is in the knowledge bases of the key's user.

  Rule: From a question to the text

    Scenario: A model finds a passage, and reads it and the file around it
      Given ann has the base "Handbook" about "How we work"
      And ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      When ann's model lists the knowledge bases
      Then it sees "Handbook" about "How we work", which it may "delete"
      When ann's model searches "Handbook" for "When is the cooling pump serviced?"
      Then the best passage says "The cooling pump is serviced in March."
      And the model can read that passage and the file "pumps.txt" around it

    Scenario: A long file is read piece by piece
      Given ann has the base "Handbook" about "How we work"
      And ann has uploaded "valves.txt" with 40 paragraphs
      When ann's model reads the file 900 characters at a time
      Then the pieces together are the whole text
      And each piece says how much is left

    Scenario Outline: A base is named by its <what>
      Given ann has the base "Handbook" about "How we work"
      And ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      When ann's model searches <name> for "pump"
      Then the best passage says "The cooling pump is serviced in March."

      Examples:
        | what                | name         |
        | name                | "Handbook"   |
        | name in other cases | " handBOOK " |
        | number              | its number   |

    Scenario: Of two bases with one name each has to be named by its number
      Given ann has the base "Handbook" about "How we work"
      And ann has the base "Handbook" about "How we do not"
      When ann's model searches "Handbook" for "pump"
      Then the model is told that "several have this name"
      And the model is told both numbers

    Scenario: Many bases come in pages
      Given ann has 5 bases
      When ann's model lists the knowledge bases 2 at a time
      Then it sees 5 bases in 3 pages

  Rule: Bases are resources

    Scenario: A person picks a base in the client, and sees its files
      Given ann has the base "Handbook" about "How we work"
      And ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      When ann's client lists the resources
      Then the resource "Handbook" says "How we work" and names the file "pumps.txt"
      And the file's own resource reads "The cooling pump is serviced in March."

    Scenario: A long text goes on at the next address
      Given ann has the base "Handbook" about "How we work"
      And ann has uploaded "valves.txt" with 1500 paragraphs
      When ann's client reads the file's resource to its end
      Then the pieces together are the whole text

    Scenario: More resources than fit into one page
      Given ann has 51 bases
      When ann's client lists the resources page by page
      Then it sees 51 resources in 2 pages

  Rule: What is wrong is told so that a model can mend it

    Scenario: Calls that cannot be answered
      Given ann has the base "Handbook" about "How we work"
      Then ann's model is told what is wrong with these calls:
        | what                               | tool                 | arguments                                      | complaint                                          |
        | A search without a question        | search_knowledge     | knowledgeBase Handbook                         | query: is required                                 |
        | A search with an empty question    | search_knowledge     | knowledgeBase Handbook, query -                | query                                              |
        | A base that is not there           | search_knowledge     | knowledgeBase Cookbook, query pump             | knowledgeBase: Knowledge base not found            |
        | A word that the tool does not know | search_knowledge     | knowledgeBase Handbook, query pump, colour red | colour: is not a field of this request             |
        | A file that is not there           | read_file            | fileId pumps                                   | File not found                                     |
        | A piece that is too long           | read_file            | fileId pumps, limit 1000000                    | limit: input should be less than or equal to 50000 |
        | A beginning before the beginning   | read_file            | fileId pumps, offset -1                        | offset: input should be greater than or equal to 0 |
        | A passage that is not there        | read_chunk           | chunkId nothing                                | Chunk not found                                    |
        | A page that is not there           | list_knowledge_bases | cursor nowhere                                 | cursor: must be the value of next                  |
        | A conversation without its channel | read_conversation    | sessionId ada                                  | instanceId: is required                            |
        | A channel that is not there        | read_conversation    | instanceId 4711, sessionId ada                 | there is no instance 4711                          |
