"""The means by which a process forbids itself something, without root.

They are Landlock, a filter of system calls, and root's capabilities. Landlock knows files, TCP,
signals and abstract sockets. The filter refuses all other sockets, limits of another process,
objects that outlive a process, memory that is shared without a file, and changes of owners, modes
and attributes of files; and signals where the kernel's Landlock is too old for them. Nobody takes
any of it back, and it holds for all that this process starts.
"""

import ctypes
import os
import platform
import signal
import struct
from collections.abc import Iterable, Iterator, Sequence

CREATE, ADD, RESTRICT = 444, 445, 446  # the same numbers on all machines
NEWEST = 7  # the newest version of which anything is used
READ = EXECUTE, READ_FILE, READ_FOLDER = 1, 4, 8
USE = (2, READ_FILE, 1 << 15)  # write, read and control a device
FILE = 1 | 2 | 4 | 1 << 14 | 1 << 15  # rights that a file can have, and not only a folder
RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}  # how many rights to files there are, from a version on
TCP, SCOPED = 3, 3  # bind and connect; abstract sockets and signals
NETWORK, SIGNALS, TRUNCATE, QUIET = 4, 6, 3, 7  # from these versions on
ALL = -1

NO_NEW_PRIVILEGES, DUMPABLE, ADOPT, ENDS = 38, 4, 36, 1
CAPABILITIES, WRITER = 0x20080522, 1  # the version of a message; reading any file, as root does

MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
SECCOMP, FAST, MODE = (317, 277), 4, 1  # FAST: no mitigation that costs the target time
CAPSET, CAPGET = (126, 91), (125, 90)
Numbers = tuple[int, int]
REFUSED: dict[str, Numbers] = {
    "socket": (41, 198),  # a pair of sockets is none of these
    "io_uring_setup": (425, 425),  # asks for other calls past the filter
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "chmod": (90, 53),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, 54),
    "fchown": (93, 55),
    "lchown": (94, 54),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "utime": (132, 88),
    "utimes": (235, 88),
    "futimesat": (261, 88),
    "utimensat": (280, 88),
    "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262),
    "setpriority": (141, 140),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
}
# Of another process, who is the first word: prlimit, sched_setaffinity.
LIMITS: tuple[Numbers, ...] = ((302, 261), (203, 122))
CUT: Numbers = (76, 45)  # truncate
# The first word says to whom: kill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo.
SENT: tuple[Numbers, ...] = ((62, 129), (234, 131), (129, 138), (297, 240))
BEYOND: tuple[Numbers, ...] = ((200, 130), (424, 424))  # tkill, pidfd_send_signal

MAP: Numbers = (9, 222)  # mmap
SHARED, OF_NO_FILE = 1, 0x20  # memory that no limit of a process counts, where it is both

LOAD, EQUAL, LEAST, HAS, ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, MACHINE, FIRST, FOURTH = 0, 4, 16, 40  # where they stand; of words, the low half
OTHER_ABI = 0x40000000  # of the numbers of x32
ALLOW, REFUSE = 0x7FFF0000, 0x00050001  # the latter with EPERM

LIBRARY = ctypes.CDLL(None, use_errno=True)
LIBRARY.syscall.restype = ctypes.c_long


def asked(number: int, *words: int | bytes | None) -> int:
    """The result of a system call. Raises OSError."""
    sent = [ctypes.c_long(x) if isinstance(x, int) else ctypes.c_char_p(x) for x in words]
    found: int = LIBRARY.syscall(ctypes.c_long(number), *sent)
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found


def version() -> int:
    """The version of Landlock that can be used; 0 without Landlock."""
    if platform.machine() not in MACHINES:
        return 0
    try:
        return min(NEWEST, asked(CREATE, None, 0, 1))
    except OSError:
        return 0


def restrict(known: int, paths: Iterable[tuple[str, Sequence[int] | int]]) -> None:
    """Forbid what no path allows. known: the version of Landlock. Raises OSError."""
    rights = (1 << max(n for since, n in RIGHTS.items() if since <= known)) - 1
    network, scoped = TCP * (known >= NETWORK), SCOPED * (known >= SIGNALS)
    rules = asked(CREATE, struct.pack("=QQQ", rights, network, scoped), 24, 0)
    for path, allowed in paths:
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:  # it is not there, or nobody may see it
            continue
        wanted = rights if allowed == ALL else rights & sum(allowed)  # type: ignore[arg-type]
        wanted &= ALL if os.path.isdir(path) else FILE
        asked(ADD, rules, 1, struct.pack("=Qi", wanted, handle), 0)
        os.close(handle)
    asked(RESTRICT, rules, int(known >= QUIET))
    os.close(rules)


def no_new_privileges() -> None:
    """Never gain any by starting a program, and be read by no other process."""
    LIBRARY.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    LIBRARY.prctl(DUMPABLE, 0, 0, 0, 0)


def adopt() -> None:
    """Be the parent of what the children of this process leave behind."""
    LIBRARY.prctl(ADOPT, 1, 0, 0, 0)


def end_with_parent() -> None:
    """End this process when its parent ends."""
    LIBRARY.prctl(ENDS, signal.SIGKILL, 0, 0, 0)


def drop() -> None:
    """Give root's powers away, but for reading and writing where the rules allow it."""
    at = MACHINES[platform.machine()][1]
    head = struct.pack("=Ii", CAPABILITIES, 0)
    had = ctypes.create_string_buffer(24)
    LIBRARY.syscall(ctypes.c_long(CAPGET[at]), ctypes.c_char_p(head), had)
    kept = 1 << WRITER & struct.unpack("=6I", had.raw)[1]
    asked(CAPSET[at], head, struct.pack("=6I", kept, kept, 0, 0, 0, 0))


def refuse(known: int) -> None:
    """Forbid what Landlock of this version does not know. Raises OSError."""
    machine, at = MACHINES[platform.machine()]
    steps = list(_program(known, machine, at))
    program = ctypes.create_string_buffer(b"".join(steps))
    told = struct.pack("@HP", len(steps), ctypes.addressof(program))
    asked(SECCOMP[at], MODE, FAST, told)


def _program(known: int, machine: int, at: int) -> Iterator[bytes]:
    """The filter, step by step: what to do, how many steps to skip if so and if not, with what."""

    def step(code: int, word: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("=HBBI", code, yes, no, word)

    yield step(LOAD, MACHINE)
    yield from (step(EQUAL, machine, 1), step(ANSWER, REFUSE))
    yield step(LOAD, NUMBER)
    yield from (step(LEAST, OTHER_ABI, 0, 1), step(ANSWER, REFUSE))
    whole = [*REFUSED.values()] + [CUT] * (known < TRUNCATE) + [*BEYOND] * (known < SIGNALS)
    for number in dict.fromkeys(one[at] for one in whole):
        yield from (step(EQUAL, number, 0, 1), step(ANSWER, REFUSE))
    yield from (step(EQUAL, MAP[at], 0, 5), step(LOAD, FOURTH))
    yield from (step(HAS, OF_NO_FILE, 0, 2), step(HAS, SHARED, 0, 1))
    yield from (step(ANSWER, REFUSE), step(ANSWER, ALLOW))
    own = {os.getpid(), 0}
    for number in (one[at] for one in (*LIMITS, *(SENT * (known < SIGNALS)))):
        yield from (step(EQUAL, number, 0, 3 + len(own)), step(LOAD, FIRST))
        yield from (step(EQUAL, one, len(own) - n) for n, one in enumerate(sorted(own)))
        yield from (step(ANSWER, REFUSE), step(ANSWER, ALLOW))
    yield step(ANSWER, ALLOW)
