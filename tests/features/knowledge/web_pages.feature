@grpc
Feature: Web pages in a knowledge base
  A web page, or all pages of a sitemap, are read into a base, and again when they change.

  Background:
    Given ann has the base "Handbook"
    And the web site has the page "/pumps" titled "Pumps" saying "The cooling pump is serviced in March."

  Rule: A page is read as a file of the base

    Scenario: Read once
      When ann has the page "/pumps" read
      Then the request is "created"
      And at last the source is read, with 1 page
      And a search for "cooling pump" finds "Pumps.html"
      And the menu of the site is not in it
      And the hit tells the address of "/pumps"

    Scenario: A document at an address is read as what it is
      Given the web site has the document "/list.csv"
      When ann has the page "/list.csv" read
      Then at last the source is read, with 1 page
      And a search for "gasket" finds "list.csv"

  Rule: All pages of a sitemap are read, and followed

    Scenario: A page that changed, and one that is gone
      Given the web site has the page "/valves" titled "Valves" saying "Valves are stored in the cellar."
      And the site's map names "/pumps" and "/valves"
      When ann has the page "/sitemap.xml" read
      Then at last the source is read, with 2 pages
      When the page "/valves" is taken away
      And the page "/pumps" says "The reserve turbine is painted."
      And ann has the source read now
      Then at last the base has only "Pumps.html", which says "turbine"

  Rule: Who may change the base has pages read

    Scenario: Only a reader
      When bob has the page "/pumps" read
      Then the request is "forbidden"

    Scenario: No address of a page
      When ann has the page "mailto:ann" read
      Then the request is "invalid"
      And the error names "url"

  Rule: A source that is removed takes its files along, unless they are to be kept

    Scenario: Taken along
      When ann has the page "/pumps" read
      Then at last the source is read, with 1 page
      When ann removes the source of the page
      Then at last the base has no files

    Scenario: Kept
      When ann has the page "/pumps" read
      Then at last the source is read, with 1 page
      When ann removes the source of the page, and keeps its files
      Then the base has no sources
      And a search for "cooling pump" finds "Pumps.html"
