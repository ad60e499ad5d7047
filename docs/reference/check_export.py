"""Check an export of a ledger, as docs/reference/ledger-export.md describes it, with Python alone."""

import hashlib
import json
import sys
from fractions import Fraction


def check(path: str) -> str:
    before, sealed = "", hashlib.sha256()
    heads: list[str] = []
    answers: list[str] = []
    for line in open(path, "rb"):
        facts = json.loads(line)
        record, *columns, digest = facts.values()
        if record == "header":
            budget = [Fraction(part) for part in facts["budget"].split()]
            spent = [Fraction(0)] * len(budget)
        elif record == "entry":
            spent = [have + Fraction(part) for have, part in zip(spent, facts["loss"].split(), strict=True)]
            if facts["act"] == "budget":
                budget = [Fraction(part) for part in facts["amount"].split()]
            assert facts["number"] == len(heads), "an entry is missing"
            assert facts["total"] == " ".join(map(str, spent)), "a sum is wrong"
            assert facts["act"] or all(map(Fraction.__le__, spent, budget)), "the budget is overspent"
            columns = columns[:-3] if columns[-3:] == [None] * 3 else columns
        if record in ("header", "entry"):
            text = json.dumps([f"dpselect {record}", before, *columns], separators=(",", ":"))
            before = hashlib.sha256(text.encode("ascii")).hexdigest()
            assert before == digest, f"{record}: it was changed"
            heads.append(digest)
        elif record == "answer":
            answers.append(facts["digest"])
        elif record == "end":
            end = [len(heads) - 1, heads[-1], len(answers), [heads[0], *answers][-1], sealed.hexdigest()]
            assert list(facts.values())[1:] == end, "the last line does not fit"
            return f"{len(heads) - 1} entries; spent {' '.join(map(str, spent))}; head {heads[-1]}"
        sealed.update(line)
    raise AssertionError("the last line is missing")


if __name__ == "__main__":
    print(check(sys.argv[1]))
