"""Arithmetic of the scripts beside this, by hand."""
import math
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import accuracy_page  # noqa: E402
import calibration_page  # noqa: E402
import evidence  # noqa: E402
import left_out  # noqa: E402
import update_gate  # noqa: E402


def run(name, source, measured, predicted, **said):
    row = {"id": name, "file": source, "micro_batch": said.pop("micro_batch", "1")}
    return evidence.Run(row, dict({"measured": measured, "predicted": predicted, "low": 0.9 * predicted,
                                   "high": 1.1 * predicted, "parts_seconds": "forward 1; launch 3"}, **said))


class Statistics(unittest.TestCase):
    def test_median_of_an_even_number_is_between(self):
        self.assertEqual(evidence.median([4, 1, 2, 9]), 3)
        self.assertTrue(math.isnan(evidence.median([])))

    def test_tau_counts_pairs(self):
        # Pairs (1,2) (1,3) agree, (2,3) does not: (2 - 1) / 3.
        self.assertAlmostEqual(evidence.tau_b([1, 2, 3], [1, 3, 2]), 1 / 3)

    def test_rank_correlation_is_of_order_only_and_ties_share_ranks(self):
        self.assertAlmostEqual(evidence.rank_correlation([1, 2, 30], [1, 8, 9]), 1)
        self.assertEqual(evidence.ranks([5, 7, 5]), [0.5, 2, 0.5])
        self.assertTrue(math.isnan(evidence.rank_correlation([1, 1], [1, 2])))

    def test_percent_has_no_negative_nothing(self):
        self.assertEqual(evidence.percent(-0.0001), "0.0 %")
        self.assertEqual(evidence.percent(None), "–")


class Runs(unittest.TestCase):
    def test_shares_errors_and_coverage(self):
        one = run("a", "s", 2, 4)
        self.assertEqual(one.error, 1)
        self.assertEqual(one.share("launch"), 3 / 4)
        self.assertFalse(one.covered)  # 3.6 to 4.4

    def test_subsets_are_of_stated_and_of_told_fields(self):
        runs = [run("a", "s", 1, 1, chip="A100"), run("b", "s", 1, 1, chip="V100"),
                run("c", "s", 1, 1, chip="A100", micro_batch="")]
        found = evidence.select(runs, {"file": "s", "chip": ["A100", "H100"]}, {"micro_batch": ""})
        self.assertEqual([one.id for one in found], ["a"])

    def test_every_bar_is_about_columns_that_exist(self):
        rows = evidence.stated_runs()
        for bar in evidence.load("bars.json")["bars"]:
            stated = {name: text for name, text in bar["rows"].items() if name in rows[0]}
            wanted = {name: text if isinstance(text, list) else [text] for name, text in stated.items()}
            self.assertTrue(any(all(row[name] in texts for name, texts in wanted.items()) for row in rows), bar["name"])

    def test_single_sources_name_rows(self):
        rows = evidence.stated_runs()
        for entry in evidence.load("single_source.json")["single_source"]:
            self.assertIn(entry["rows"]["file"], {row["file"] for row in rows})

    def test_contradicted_rows_exist(self):
        known = {row["id"] for row in evidence.stated_runs()}
        self.assertLessEqual(set(accuracy_page.contradicted()), known)

    def test_equal_configurations_are_found(self):
        rows = [{"id": name, "file": "s", "gpus": gpus, "step_time_s": "1", "notes": name}
                for name, gpus in (("a", "8"), ("b", "8"), ("c", "16"))]
        self.assertEqual([[row["id"] for row in group] for group in accuracy_page.repeated(rows)], [["a", "b"]])


class Fits(unittest.TestCase):
    def test_linear_equations(self):
        # 2x + y = 5, x + 3y = 10: x = 1, y = 3.
        self.assertEqual([round(x, 12) for x in left_out.solve([[2, 1], [1, 3]], [5, 10])], [1, 3])

    def test_a_fit_takes_away_a_common_residual_unless_the_prior_forbids(self):
        slopes, residuals, sources = [(1,), (1,)], [0.2, 0.2], ["a", "b"]
        self.assertAlmostEqual(left_out.fit(slopes, residuals, sources, [10.0])[0], -0.2, places=3)
        self.assertAlmostEqual(left_out.fit(slopes, residuals, sources, [1e-4])[0], 0, places=3)

    def test_every_constant_is_in_the_shipped_data(self):
        for constant in evidence.load("llm_runs.json")["constants"]:
            before = left_out.moved(constant, 0)
            after = left_out.moved(constant, 0.1)
            for key in constant["path"]:
                before, after = before[key], after[key]
            expected = 1 - (1 - before) * math.exp(0.1) if constant.get("complement") else before * math.exp(0.1)
            self.assertAlmostEqual(after / expected, 1)


class Gates(unittest.TestCase):
    def test_an_error_may_grow_by_a_twentieth(self):
        bars = {}
        update_gate.at_most(bars, "mape", 0.1)
        update_gate.at_least(bars, "tau", 0.8)
        self.assertEqual(bars, {"mape": {"max": 0.105}, "tau": {"min": 0.79}})  # 1 - 0.2 * 1.05


class Calibration(unittest.TestCase):
    def test_what_one_source_bears_is_marked(self):
        self.assertIn("single source", calibration_page.shared_by({"source": "training steps of llm-foundry"}))
        self.assertNotIn("single", calibration_page.shared_by({"source": "llm-foundry and MaxText"}))
        self.assertEqual(calibration_page.shared_by({"source": "BabelStream"}), "kernels, tables or logs")

    def test_numbers_are_counted_in_depth(self):
        self.assertEqual(calibration_page.count({"a": [1, [2, 3]], "b": "text"}), 3)


unittest.main()
