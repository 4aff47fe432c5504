"""What sets wrong problems apart is found where there is something, and not where there is not."""

import numpy as np
import pytest

from spec.certification.diagnosing.separating import Columns, Split, best, shorter
from spec.certification.diagnosing.table import EXPLAINED, MAINLY, Table

NAMES = 40
COST = np.full(NAMES, 5.0)


def rows(seed: int, count: int = 200) -> np.ndarray:
    return np.random.default_rng(seed).random((count, NAMES)) < 0.5


def found(table: np.ndarray, wrong: np.ndarray) -> Split:
    return best(table, wrong, np.ones(len(table)), COST, np.ones(NAMES, dtype=bool))[0]


def test_a_conjunction_is_found() -> None:
    for columns in ((3,), (3, 17), (3, 17, 30)):
        table = rows(seed=len(columns))
        assert found(table, table[:, columns].all(axis=1)).columns == columns


def test_it_is_found_where_some_of_it_is_right() -> None:
    table, chance = rows(seed=4), np.random.default_rng(5)
    wrong = table[:, (3, 17)].all(axis=1) & (chance.random(len(table)) < 0.7)
    assert found(table, wrong).columns == (3, 17)


def test_chance_is_not_described() -> None:
    for seed in range(20):
        wrong = np.random.default_rng(100 + seed).random(200) < 0.3
        assert found(rows(seed), wrong) == Split((), 0.0)


def test_what_is_seldom_wrong_is_not_described_by_its_opposite() -> None:
    table = rows(seed=6)
    assert 3 not in found(table, ~table[:, 3]).columns


def test_only_what_holds_where_it_was_seen_is_named() -> None:
    table = rows(seed=7)
    having = np.ones(NAMES, dtype=bool)
    having[3] = False
    (split,) = best(table, table[:, 3], np.ones(len(table)), COST, having)
    assert 3 not in split.columns


def test_the_best_are_told_in_their_order_and_each_once() -> None:
    table = rows(seed=8)
    wrong, weight = table[:, (3, 17)].all(axis=1), np.ones(len(table))
    splits = best(table, wrong, weight, COST, np.ones(NAMES, dtype=bool), most=8)
    assert len({split.columns for split in splits}) == len(splits) == 8
    assert [x.worth for x in splits] == sorted((x.worth for x in splits), reverse=True)


def test_a_feature_that_hardly_anything_hangs_on_is_left_out() -> None:
    table = rows(seed=9)
    table[:, 30] |= np.arange(len(table)) > 5
    wrong, weight = table[:, (3, 30)].all(axis=1), np.ones(len(table))
    assert shorter((3, 30), table, wrong, weight) == (3,)
    assert shorter((3, 17), table, table[:, (3, 17)].all(axis=1), weight) == (3, 17)


def of_two(noise: float) -> Table:
    """Wrong where either of two conjunctions holds, and elsewhere by chance."""
    said, chance = rows(seed=10, count=400), np.random.default_rng(11)
    wrong = said[:, (3, 17)].all(axis=1) | said[:, (5, 30)].all(axis=1)
    return Table(said, wrong | (chance.random(len(said)) < noise), np.ones(len(said)), said, COST)


def told(table: Table, *known: Columns) -> dict[Columns, Table]:
    return {split.columns: alone for split, alone in table.told(known)}


def test_what_takes_more_conjunctions_than_it_needs_is_told_anew() -> None:
    table = of_two(noise=0)
    assert {*told(table, (3,), (5, 30))} == {(3, 17), (5, 30)}
    assert told(table, (3,)) == {}


def test_each_is_told_by_the_rows_that_the_others_leave() -> None:
    table = of_two(noise=0)
    alone = told(table, (3,), (5, 30))[(3, 17)]
    outside = ~table.said[:, (5, 30)].all(axis=1)
    assert np.array_equal(alone.wrong, table.wrong[outside])
    assert np.array_equal(alone.said, table.said[outside])


def test_what_fewer_leave_unexplained_is_not_told_by_them() -> None:
    assert told(of_two(noise=0.3), (3, 17), (5, 30)) == {}


@pytest.mark.slow
def test_clear_ones_tell_no_more_than_they_explain() -> None:
    said = rows(seed=12, count=1600)
    said[::4, 9] = False
    wrong = said[:, (5, 30)].all(axis=1) & (said[:, 8] | said[:, 9])
    first, *_ = known = (3, 17, 20), (5, 8, 30), (5, 9, 30)
    table = Table(said, wrong | said[:, first].all(axis=1), np.ones(len(said)), said, COST)
    left = table.outside(table.worth(first))
    few = table.worth(first).worth + left.worth((5, 30)).worth
    assert left.share(left.worth((5, 30))) > MAINLY
    assert few < EXPLAINED * table.parted(known)
    assert (5, 30) not in told(table, *known)


def test_nearly_all_is_told_by_few_though_much_is_right_inside() -> None:
    said, chance = rows(seed=13, count=800), np.random.default_rng(14)
    rarely = said[:, (5, 30)].all(axis=1) & (chance.random(len(said)) < 0.5)
    wrong = rarely | said[:, (3, 17)].all(axis=1)
    table = Table(said, wrong, np.ones(len(said)), said, COST)
    left = table.outside(table.worth((3, 17)))
    assert left.share(left.worth((5, 30))) < MAINLY
    assert {*told(table, (3, 17), (5, 9, 30), (5, 8, 30))} == {(3, 17), (5, 30)}


def test_conjunctions_are_worth_what_each_adds_and_what_the_best_one_adds_to_them() -> None:
    table = of_two(noise=0)
    first = table.worth((3, 17))
    rest = table.outside(first).best()
    assert rest.columns == (5, 30)
    assert table.parted([(3, 17)]) == first.worth + rest.worth
    assert table.parted([]) == table.best().worth
