"""The AWS CLI for many commands, each in a fork of a process that has started it already (which takes a second).

A line of stdin is JSON: {"args": [...], "stdin": path, "stdout": path, "stderr": path}; a line of stdout answers it:
{"ok": true, "result": exit status}.
"""

import json
import os
import sys
import traceback

from awscli.clidriver import create_clidriver

driver = create_clidriver()
driver.session.get_service_model("s3")


def _become(command):
    for descriptor, name, flags in [(0, "stdin", os.O_RDONLY), (1, "stdout", os.O_WRONLY), (2, "stderr", os.O_WRONLY)]:
        file = os.open(command[name], flags)
        os.dup2(file, descriptor)
        os.close(file)
    return driver.main(command["args"])


for line in sys.stdin:
    child = os.fork()
    if child == 0:
        status = 255
        try:
            status = _become(json.loads(line))
        except SystemExit as stopped:
            status = stopped.code
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    _, status = os.waitpid(child, 0)
    print(json.dumps({"ok": True, "result": os.waitstatus_to_exitcode(status)}), flush=True)
