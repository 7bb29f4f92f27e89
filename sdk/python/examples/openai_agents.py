"""An agent of the OpenAI Agents SDK, with a tool and a memory for each conversation.

pip install openai-agents==0.24.0 './sdk/python[serve]'
OPENAI_API_KEY=sk-... AGENT_TOKEN=a-secret-of-yours python openai_agents.py
"""

import os

from agents import Agent as Assistant
from agents import Runner, SQLiteSession, function_tool
from switchboard_sdk import Agent

agent = Agent(token=os.environ["AGENT_TOKEN"])


@function_tool
def opening_hours(day: str) -> str:
    """When the shop is open on a day of the week."""
    return "closed" if day == "Sunday" else "nine to five"


assistant = Assistant(
    "Clerk", "Answer briefly.", model=os.getenv("MODEL", "gpt-5-mini"), tools=[opening_hours]
)


@agent.message
async def answer(message):
    session = SQLiteSession(f"{message.instance_id}/{message.session_id}", "sessions.db")
    run = Runner.run_streamed(assistant, message.text, session=session)
    async for event in run.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            yield event.data.delta


if __name__ == "__main__":
    agent.run(port=int(os.getenv("PORT", "8000")))
