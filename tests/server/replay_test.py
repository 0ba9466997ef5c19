#!/usr/bin/env python3
"""The replay must see what differs: a comparison that cannot fail proves nothing."""

import json
import unittest

from comparison import Comparison
from differences import DIFFERENCES
from labels import Labels
from replay import RECORDINGS


def differences(recorded, actual, strict=True, labels=None):
    comparison = Comparison(labels or Labels(), strict)
    comparison.value("body", recorded, actual)
    return comparison.differences


A, B = "0190aaaa-0000-7000-8000-000000000001", "0190aaaa-0000-7000-8000-000000000002"


class LabelTest(unittest.TestCase):
    def test_the_same_label_is_the_same_value(self):
        self.assertEqual(differences(["<run-1>", "<run-1>"], [A, A]), [])
        self.assertEqual(len(differences(["<run-1>", "<run-1>"], [A, B])), 1)

    def test_two_labels_are_two_values(self):
        self.assertEqual(len(differences(["<run-1>", "<run-2>"], [A, A])), 1)

    def test_an_id_must_look_like_one(self):
        self.assertEqual(len(differences("<run-1>", "run one")), 1)
        self.assertEqual(len(differences("<ts>", "yesterday")), 1)

    def test_a_label_may_be_part_of_a_text_or_a_key(self):
        labels = Labels()
        self.assertEqual(differences({"child:<uuid-1>": "<uuid-1>"}, {f"child:{A}": A}, labels=labels), [])
        self.assertEqual(labels.fill_in("/threads/<uuid-1>"), f"/threads/{A}")


class ComparisonTest(unittest.TestCase):
    def test_missing_extra_and_different(self):
        self.assertEqual(len(differences({"a": 1, "b": 2}, {"a": 2, "c": 3})), 3)

    def test_types_are_kept_apart(self):
        self.assertEqual(len(differences([1, None, True], [True, "", 1])), 3)
        self.assertEqual(differences(1, 1.0), [])

    def test_order_and_number_of_elements_count(self):
        self.assertTrue(differences([1, 2], [2, 1]))
        self.assertTrue(differences([1], [1, 2]))

    def test_texts_of_errors_are_free_unless_a_graph_raised_them(self):
        self.assertEqual(differences({"error": "X", "message": "a"}, {"error": "X", "message": "b"}), [])
        self.assertTrue(differences({"error": "ValueError", "message": "a"}, {"error": "ValueError", "message": "b"}))

    def test_internal_keys_may_be_missing_only_when_not_strict(self):
        self.assertEqual(differences({"ls_integration": "x"}, {}, strict=False), [])
        self.assertTrue(differences({"ls_integration": "x"}, {}))

    def test_an_empty_error_of_a_thread_may_be_shown_or_not(self):
        thread = {"thread_id": "t", "config": {}}
        self.assertEqual(differences(thread, {**thread, "error": None, "interrupts": {}}, strict=False), [])
        self.assertTrue(differences(thread, {**thread, "error": None}))
        self.assertTrue(differences(thread, {**thread, "error": {"error": "X"}}, strict=False))

    def test_streams_differ_in_order_end_and_framing(self):
        def stream(events, closed_by="server", raw="event: a\ndata: 1\n\n"):
            return {"status": 200, "headers": {}, "sse": events, "closed_by": closed_by, "first_event_raw": raw}

        recorded = stream([{"event": "a", "data": 1}, {"event": "b", "data": 2}])
        for actual in (stream(recorded["sse"][::-1]), stream(recorded["sse"][:1]), stream(recorded["sse"], "client"),
                       stream(recorded["sse"], raw="data: 1\nevent: a\n\n")):
            comparison = Comparison(Labels(), True)
            comparison.response(recorded, actual)
            self.assertTrue(comparison.differences)


class DifferencesTest(unittest.TestCase):
    def test_every_entry_names_an_exchange_and_makes_an_answer(self):
        for entry in DIFFERENCES:
            exchanges = json.loads((RECORDINGS / entry.file).read_text())["exchanges"]
            responses = {exchange["title"]: exchange.get("response") for exchange in exchanges}
            for title in entry.titles:
                with self.subTest(file=entry.file, title=title):
                    self.assertIn(title, responses)
                    instead = entry.instead(responses[title], responses)
                    self.assertEqual({"status", "headers"} & set(instead), {"status", "headers"})
                    self.assertNotEqual(instead, responses[title])


if __name__ == "__main__":
    unittest.main()
