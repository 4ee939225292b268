"""Erasing a person erases their threads: in the rows, in the file's bytes, and in a backup that is put back."""

import shutil
from pathlib import Path

from graphs import checkpoint, metadata, put_steps, thread

import recollect
from recollect.langgraph import RecollectSaver


def test_erasing_a_person_erases_their_threads_alone(location: str) -> None:
    with recollect.open(location) as mem, RecollectSaver(mem) as saver:
        for user in ("ana", "ben"):
            for name in ("one", "two"):
                put_steps(saver, thread(name, user_id=user), 3)
        mem.add("Ana likes tea", owner="ana")
        mem.erase(owner="ana")
        assert {head.user_id for head in saver.threads()} == {"ben"} and len(saver.threads()) == 2
        assert saver.get_tuple(thread("one", user_id="ana")) is None
        assert mem.verify().ok


def test_the_words_are_gone_from_the_file(file: str) -> None:
    with recollect.open(file) as mem, RecollectSaver(mem) as saver:
        config = saver.put(thread(user_id="ana"), checkpoint(0, said="xyzzy" * 3_000), metadata(), {})
        saver.put_writes(config, [("said", "plugh" * 100)], "task")
        put_steps(saver, thread(user_id="ben"), 2)
        mem.erase(owner="ana")
    for path in Path(file).parent.iterdir():
        content = path.read_bytes()
        assert b"xyzzy" not in content and b"plugh" not in content, path.name


def test_a_backup_that_is_put_back_forgets_them_again(file: str) -> None:
    with RecollectSaver.from_conn_string(file) as saver:
        put_steps(saver, thread(user_id="ana"), 2)
        put_steps(saver, thread(user_id="ben"), 2)
    shutil.copy(file, f"{file}.backup")
    with recollect.open(file) as mem:
        mem.erase(owner="ana")
    shutil.copy(f"{file}.backup", file)
    with RecollectSaver.from_conn_string(file) as saver:
        assert [head.user_id for head in saver.threads()] == ["ben"]
