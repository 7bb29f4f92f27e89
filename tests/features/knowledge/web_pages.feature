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
