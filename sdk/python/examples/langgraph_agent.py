"""A graph of LangGraph, with a memory for each conversation.

pip install langgraph==1.2.24 langchain-openai==1.7.4 './sdk/python[serve]'
OPENAI_API_KEY=sk-... AGENT_TOKEN=a-secret-of-yours python langgraph_agent.py
"""

import os

from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from switchboard_sdk import Agent

agent = Agent(token=os.environ["AGENT_TOKEN"])
model = ChatOpenAI(model=os.getenv("MODEL", "gpt-5-mini"))


async def reply(state: MessagesState):
    return {"messages": [await model.ainvoke(state["messages"])]}


graph = StateGraph(MessagesState).add_node(reply).add_edge(START, "reply").compile(InMemorySaver())


@agent.message
async def answer(message):
    thread = {"configurable": {"thread_id": f"{message.instance_id}/{message.session_id}"}}
    state = {"messages": [("user", message.text)]}
    async for chunk, _ in graph.astream(state, thread, stream_mode="messages"):
        yield chunk.text


if __name__ == "__main__":
    agent.run(port=int(os.getenv("PORT", "8000")))
