"""An agent of PydanticAI, with a tool that a person must approve.

pip install 'pydantic-ai-slim[openai]==2.68.0' './sdk/python[serve]'
OPENAI_API_KEY=sk-... AGENT_TOKEN=a-secret-of-yours python pydantic_agent.py
"""

import os

from pydantic_ai import Agent as Assistant
from pydantic_ai import DeferredToolRequests, DeferredToolResults
from switchboard_sdk import Agent, Confirmation

agent = Agent(token=os.environ["AGENT_TOKEN"])
model = f"openai-chat:{os.getenv('MODEL', 'gpt-5-mini')}"
assistant = Assistant(
    model,
    instructions="Answer briefly.",
    output_type=[str, DeferredToolRequests],
    model_settings={"parallel_tool_calls": False},  # one decision at a time
)
waiting = {}  # runs that wait for a decision, by conversation; in the memory of this process


@assistant.tool_plain(requires_approval=True)
def cancel_order(number: int) -> str:
    """Cancel an order."""
    return f"Order {number} is cancelled."


@agent.message
async def answer(message):
    key = (message.instance_id, message.session_id)
    history, call = waiting.pop(key, ([], None))
    if call and message.approval:
        decision = DeferredToolResults(approvals={call.tool_call_id: message.allows(call.tool_name)})
        run = await assistant.run(message_history=history, deferred_tool_results=decision)
    else:
        run = await assistant.run(message.text)
    if isinstance(run.output, str):
        return run.output
    call = run.output.approvals[0]
    waiting[key] = (run.all_messages(), call)
    return Confirmation(call.tool_name, call.args_as_dict())


if __name__ == "__main__":
    agent.run(port=int(os.getenv("PORT", "8000")))
