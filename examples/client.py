"""LangGraph's own client, unchanged, against a Clew server: python3 client.py [URL]."""

import sys

url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:2024"

# [snippet client]
from langgraph_sdk import get_sync_client

client = get_sync_client(url=url)  # "http://127.0.0.1:2024"
thread = client.threads.create()

# The graph drafts a text, then asks a person.
for event in client.runs.stream(thread["thread_id"], "approval", input={"text": "hello"}, stream_mode="updates"):
    print(event.event, event.data)

# Another process, tomorrow, answers.
state = client.runs.wait(thread["thread_id"], "approval", command={"resume": "yes"})
print(state["text"])  # HELLO:yes

for checkpoint in client.threads.get_history(thread["thread_id"]):
    print(checkpoint["metadata"]["step"], checkpoint["next"])
# [/snippet client]
