"""Pages for people: ask, see the price and the accuracy, pay, get the answer; and a classroom.

It holds no privacy logic: questions, prices, ledgers and laws are those of the library.

>>> from dpselect.studio.classroom import Lesson
>>> lesson = Lesson.read({"name0": "tea", "votes0": "3", "name1": "soup", "votes1": "2"})
>>> [round(law.probabilities[0], 3) for law in lesson.laws()]
[0.816, 0.731, 0.724]
"""
