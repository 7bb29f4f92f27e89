"""An agent of the Claude Agent SDK, without the tools that act on this machine.

pip install claude-agent-sdk==0.2.189 './sdk/python[serve]'
ANTHROPIC_API_KEY=sk-... AGENT_TOKEN=a-secret-of-yours python claude_agent.py
"""

import os

from claude_agent_sdk import ClaudeAgentOptions, StreamEvent, query
from switchboard_sdk import Agent

agent = Agent(token=os.environ["AGENT_TOKEN"])
options = ClaudeAgentOptions(
    system_prompt="Answer briefly.",
    model=os.getenv("MODEL"),
    tools=[],
    setting_sources=[],
    include_partial_messages=True,
)


@agent.message
async def answer(message):
    async for event in query(prompt=message.text, options=options):
        if isinstance(event, StreamEvent) and event.event["type"] == "content_block_delta":
            yield event.event["delta"].get("text", "")


if __name__ == "__main__":
    agent.run(port=int(os.getenv("PORT", "8000")))
