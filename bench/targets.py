"""What compare.py runs, and what the project promises about it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """Arguments of one process on each side. Clew, which is done so much sooner, repeats the work
    within its process; LangGraph does it once, and not in every round where it takes long."""

    arguments: str
    clew_repeat: int = 15
    most_rounds: int = 99
    clew_only: bool = False  # there is nothing to compare it with


# Where LangGraph needs long, both sides do less than a workload's default: W2 has 200 turns and W6 200
# threads instead of 1,000, and --n says how often W3 with 1,000 tasks and the longer shapes run; some get
# fewer rounds.
# W7 and neighbours repeat by themselves, and W9 reports the memory of a process that did its work once.
CELLS = [
    Cell("W1 --backend none"),
    Cell("W1 --backend memory"),
    Cell("W2 --variant plain --n 200", most_rounds=2),
    Cell("W2 --variant delta --n 200", most_rounds=2),
    Cell("W3 --fan 100"),
    Cell("W3 --fan 1000 --n 2"),
    Cell("W4 --channels 100"),
    Cell("W4 --channels 1"),
    Cell("W5"),
    Cell("W6 --n 200"),
    Cell("W7", clew_repeat=1),
    Cell("W8", clew_repeat=5),
    Cell("W8 --dims 384", clew_repeat=5),
    Cell("W8 --dims 1536", clew_repeat=3),
    Cell("neighbours", clew_repeat=1, most_rounds=1, clew_only=True),
    Cell("W9 --backend none", clew_repeat=1),
    Cell("W9 --backend memory", clew_repeat=1),
    Cell("commits --backend sqlite", clew_repeat=3, clew_only=True),
    Cell("commits --backend sqlite_normal", clew_repeat=3, clew_only=True),
    Cell("W1 --backend sqlite", clew_repeat=3),
    Cell("W1 --backend sqlite_normal", clew_repeat=3),
    Cell("W1 --backend sqlite --durability async", clew_repeat=3),
    Cell("W2 --backend sqlite --variant plain", clew_repeat=1, most_rounds=1),
    Cell("W2 --backend sqlite_langgraph --variant plain --n 200", clew_repeat=3),
    Cell("W3 --backend sqlite --fan 100", clew_repeat=3),
    Cell("W4 --backend sqlite --channels 100", clew_repeat=3),
    Cell("W5 --backend sqlite", clew_repeat=3),
    Cell("W6 --backend sqlite --n 200", clew_repeat=1),
    Cell("W8 --backend sqlite", clew_repeat=1, most_rounds=1),
    Cell("W8 --backend sqlite --dims 384", clew_repeat=1, most_rounds=1),
    Cell("W9 --backend sqlite", clew_repeat=1),
    Cell("sequential --backend none --n 1"),
    Cell("sequential --backend none --size 3000 --n 1", most_rounds=1),
    Cell("react_agent --backend none --n 1", most_rounds=1),
    Cell("react_graph --backend none"),
    Cell("wide_state --backend none"),
    Cell("fanout_to_subgraph --backend none --n 1"),
    Cell("sequential --durability exit --n 1"),
    Cell("react_graph --durability exit"),
    Cell("wide_state --durability exit"),
    Cell("fanout_to_subgraph --durability exit --n 1"),
]

# How many times less CPU time than LangGraph a row must take, by workload and backend.
LEAST_RATIO = {
    "W1_seq10 none": 200,
    "W1_seq10 memory": 120,
    "W3_fan100 memory": 150,
    "W3_fan1000 memory": 300,
    "W4_wide100x50 memory": 100,
    "W5_deep5 memory": 60,
    "W6_interrupt memory": 50,
    "W6_resume memory": 50,
    "W6_get_state_1000cp memory": 20,
    "W6_history_1000cp memory": 30,
    "W7_enc_msg_dicts msgpack": 1.5,
    "W7_dec_msg_dicts msgpack": 2,
    "W7_enc_msg_objects msgpack": 6,
    "W7_dec_msg_objects msgpack": 12,
    "W7_enc_nested_json msgpack": 1.5,
    "W7_dec_nested_json msgpack": 3,
    "W8_put memory": 8,
    "W8_get memory": 8,
    "W8_search_narrow memory": 15,
    "W8_search_broad memory": 15,
    "W8_semantic_vec384 memory": 80,
    "W8_semantic_vec1536 memory": 80,
    "W9_conc1000 none": 50,
    "W9_conc1000 memory": 50,
    "W8_get sqlite": 15,
    "W8_search_narrow sqlite": 10,
    "W8_semantic_vec384 sqlite": 20,
    "W2_chat_plain sqlite": 40,
    "W2_chat_plain sqlite_langgraph": 10,
    "W3_fan100 sqlite": 50,
    "W4_wide100x50 sqlite": 15,
    "W5_deep5 sqlite": 10,
    "W6_get_state_1000cp sqlite": 4,
    "W6_history_1000cp sqlite": 10,
    "W9_conc1000 sqlite": 20,
    "sequential_1000 none": 100,
    "sequential_3000 none": 100,
    "react_agent_100x none": 100,
    "wide_state_9x1200 none": 100,
    "fanout_to_subgraph_100x none": 100,
}

# How many microseconds of CPU time a row may take on Clew.
MOST_MICROSECONDS = {"W1_seq10 none": 2, "W1_seq10 sqlite async": 25}

# How many times the wall time of the second row the first may take: what a step costs beside the commit
# that it waits for, and what waiting together saves.
MOST_WALL = {
    ("W1_seq10 sqlite", "commit sqlite"): 1.4,
    ("W1_seq10 sqlite_normal", "commit sqlite_normal"): 2.5,
    ("W1_seq10 sqlite_normal", "commit_checkpoint sqlite_normal"): 2.5,
    ("put_64_threads sqlite", "put_1_thread sqlite"): 0.1,
    ("put_64_threads_slow sqlite", "put_1_thread_slow sqlite"): 0.1,
    ("hnsw_clustered memory", "exact_clustered memory"): 0.1,
}

# Which part of the best ten of all a graph of neighbours finds at least.
LEAST_RECALL = {"hnsw_clustered memory": 0.95}

# How many megabytes of memory the process may have in use at its end.
MOST_MEGABYTES = {"W9_conc1000 none": 20, "W9_conc1000 memory": 20, "W2_chat_plain sqlite": 40}

# How many megabytes it may leave on disk, and how many times what LangGraph leaves.
MOST_MEGABYTES_ON_DISK = {"W2_chat_plain sqlite": 10}
MOST_OF_THEIR_DISK = {"W2_chat_plain sqlite_langgraph": 1.05}

# How many commits what is named may take.
MOST_COMMITS = {
    "W1_seq10 sqlite": ("run of 12 checkpoints", 12),
    "W6_resume sqlite": ("resumed run", 3),
    "W9_conc1000 sqlite": ("run of 5 checkpoints", 0.5),
}

# How many times as long the last 100 turns may take as the first, and how many milliseconds get_state after them.
MOST_GROWTH_OF_TURNS = {"W2_chat_plain sqlite": 1.3}
MOST_MILLISECONDS_OF_STATE = {"W2_chat_plain sqlite": 2}

# How many times the cost of the second row the first may have: cost follows what a step does, not the
# number of tasks, the width of the state or the length of the graph.
MOST_GROWTH = {
    ("W3_fan1000 memory", "W3_fan100 memory"): 1.3,
    ("W4_wide100x50 memory", "W4_wide1x50 memory"): 1.5,
    ("sequential_3000 none", "sequential_1000 none"): 1.3,
}

# How many nanoseconds of CPU time an operation of clew-micro may take.
MOST_NANOSECONDS = {
    "copy_state_of_1000_messages": 50,
    "append_message_to_state/1000": 2000,
    "append_message_to_state/1024": 2000,
}
