"""The decision about an A/B test follows rules that are fixed before its start."""

from mailqueue.analytics.ab_tests.decision import decide
from mailqueue.analytics.ab_tests.significance import Observed


def test_a_significantly_better_variant_wins() -> None:
    answer = decide([Observed(500, 100), Observed(500, 160)], alpha=0.05, min_sample=100)
    assert (answer.result, answer.winner) == ("winner", 1)
    assert answer.p_values[0] is None
    assert answer.p_values[1] is not None
    assert answer.p_values[1] < 0.05


def test_the_first_wins_where_every_other_is_significantly_worse() -> None:
    answer = decide([Observed(500, 160), Observed(500, 100)], alpha=0.05, min_sample=100)
    assert (answer.result, answer.winner) == ("winner", 0)
    one_is_equal = [Observed(500, 160), Observed(500, 100), Observed(500, 161)]
    assert decide(one_is_equal, alpha=0.05, min_sample=100).result == "no_difference"


def test_the_best_of_several_that_are_better_wins() -> None:
    observed = [Observed(500, 100), Observed(500, 160), Observed(500, 170), Observed(500, 101)]
    assert decide(observed, alpha=0.05, min_sample=100).winner == 2


def test_a_difference_that_alone_were_significant_is_not_among_three() -> None:
    alone = decide([Observed(500, 100), Observed(500, 128)], alpha=0.05, min_sample=100)
    others = [Observed(500, 100), Observed(500, 128), Observed(500, 101), Observed(500, 99)]
    assert (alone.result, alone.winner) == ("winner", 1)
    assert decide(others, alpha=0.05, min_sample=100).result == "no_difference"


def test_fewer_emails_than_the_least_sample_are_not_compared() -> None:
    observed = [Observed(500, 0), Observed(99, 99)]
    answer = decide(observed, alpha=0.05, min_sample=100)
    assert (answer.result, answer.winner, answer.p_values) == ("too_few", None, (None, None))
    assert decide([Observed(0, 0), Observed(0, 0)], alpha=0.5, min_sample=0).result == "too_few"
