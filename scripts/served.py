"""A server that a script or a test starts."""

import pathlib
import re
import subprocess
import sys
import tempfile
import time


class Served:
    """`freshet serve` on a free port, and at the same address when it is started again."""

    def __init__(self, *command, **options):
        """The command without its port; the options are those of Popen."""
        self.command, self.options = [str(word) for word in command], options
        self.port, self.url = 0, ""
        # A pipe that no script reads would block the server.
        self.file = tempfile.NamedTemporaryFile(suffix=".log")

    @property
    def log(self):
        return pathlib.Path(self.file.name).read_text()

    def start(self):
        """Returns once it listens: then `url` has its address, without a slash at the end."""
        before = len(self.log)
        with open(self.file.name, "a") as log:
            self.process = subprocess.Popen(
                [*self.command, "--port", str(self.port)], stdout=subprocess.DEVNULL, stderr=log, **self.options)
        while not (found := re.search(r" at (https?://\S+:(\d+))/", self.log[before:])):
            if self.process.poll() is not None:
                sys.exit(f"the server has ended:\n{self.log}")
            time.sleep(0.01)
        self.url, self.port = found[1], int(found[2])
        return self

    def stop(self):
        self.process.terminate()
        return self.process.wait(60)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
