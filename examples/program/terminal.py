"""What a program shows on a terminal, for the tests of examples."""
import os
import pty
import subprocess


def shown_on_terminal(*command):
    """Runs the command; returns its stderr, which is a terminal, to the end."""
    terminal, its_end = pty.openpty()
    subprocess.run(command, stderr=its_end, stdout=subprocess.DEVNULL, check=True)
    os.close(its_end)
    shown = b""
    try:
        while piece := os.read(terminal, 4096):
            shown += piece
    except OSError:  # the end of a terminal
        pass
    os.close(terminal)
    return shown
