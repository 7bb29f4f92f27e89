"""An agent of CrewAI. It blocks, so its handler is a function without `async`, which runs in a thread.

pip install crewai==1.15.30 './sdk/python[serve]'
OPENAI_API_KEY=sk-... AGENT_TOKEN=a-secret-of-yours python crewai_agent.py
"""

import os

from crewai import LLM
from crewai import Agent as Member
from switchboard_sdk import Agent

agent = Agent(token=os.environ["AGENT_TOKEN"])
llm = LLM(model=f"openai/{os.getenv('MODEL', 'gpt-5-mini')}")
clerk = Member(role="Clerk", goal="Answer customers briefly", backstory="You know the shop.", llm=llm)


@agent.message
def answer(message):
    return clerk.kickoff(message.text).raw


if __name__ == "__main__":
    agent.run(port=int(os.getenv("PORT", "8000")))
