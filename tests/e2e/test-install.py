"""What `make` and `make install` give a user."""
import json
import os

from harness import require


def test_make_builds_all_that_is_installed(context):
    """`make install` builds no more than `make` does, so nothing of it may be missing there."""
    build = os.path.dirname(context.dwell)
    installed = json.loads(context.run("meson", "introspect", "--installed", build).stdout)
    made = {os.path.relpath(path, build) for path in installed if path.startswith(build + "/")}
    query = context.run("ninja", "-C", build, "-t", "query", "programs").stdout.split()
    require(len(made) > 3, made)
    require(made <= set(query), sorted(made - set(query)))
