"""The judge's side of the wall: a target that lives in another process, seen as a function.

runners     the zygote of a target, and a runner for each process that judges
messages    one question and one answer, checked before anything is believed
placed      arrays that the judge has written into the shared block
remote      an array library whose arrays live in a runner
far         a target, or what it has or returns, in a runner
"""
