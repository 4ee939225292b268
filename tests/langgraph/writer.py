"""A process that saves checkpoints to one thread, and says so after each one: python writer.py STORE NAME COUNT."""

import sys

from graphs import checkpoint, metadata, thread

from recollect.langgraph import RecollectSaver, Retention


def main(location: str, name: str, count: int) -> None:
    config = thread("shared")
    with RecollectSaver.from_conn_string(location, retention=Retention(keep_last=None)) as saver:
        for step in range(count):
            config = saver.put(config, checkpoint(step, name=name, step=step, big=name * 20_000), metadata(step), {})
            saver.put_writes(config, [("said", f"{name} {step}")], f"task-{name}")
            print(config["configurable"]["checkpoint_id"], flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
