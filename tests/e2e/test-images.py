"""Clone images of the distribution's programs and libraries, verified by tests/tools/verify-images.

A sample here; DWELL_LONG=1 takes all files of /usr/bin, /usr/lib and /usr/local, with and without
probes.
"""
import os

from harness import IS_LONG, cases, expect, require

SAMPLE = ["/usr/bin/bash", "/usr/bin/git", "/usr/bin/perl", "/usr/bin/python3", "/usr/bin/gcc",
          "/usr/bin/clang", "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6",
          "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
          "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0"]
FOLDERS = ["/usr/bin", "/usr/lib", "/usr/local"]
ELF_MAGIC = b"\x7fELF"
FILES_AT_ONCE = 50


def is_elf(path):
    try:
        with open(path, "rb") as f:
            return f.read(len(ELF_MAGIC)) == ELF_MAGIC
    except OSError:
        return False


def all_files():
    for folder in FOLDERS:
        for root, _, names in os.walk(folder):
            paths = (os.path.join(root, name) for name in names)
            yield from (path for path in paths if not os.path.islink(path) and is_elf(path))


@cases("none", "time", "time -l")
def test_images_are_faithful(context, probes):
    """No finding in any image."""
    files = sorted(all_files()) if IS_LONG else [path for path in SAMPLE if is_elf(path)]
    tool = os.path.join(context.targets, "..", "tools", "verify-images")
    require(files, "none of the files is here")
    for i in range(0, len(files), FILES_AT_ONCE):
        done = context.run(tool, "-p", *probes.split(), *files[i:i + FILES_AT_ONCE], seconds=3600)
        if IS_LONG:
            print("#", done.stdout.splitlines()[-1], flush=True)
        require(done.returncode == 0, f"{done.stdout}\n{done.stderr}")
        if not IS_LONG:  # all files have some of other machines
            expect(done.stdout.splitlines()[-1].split()[0], str(len(files)), "files that were verified")
