"""The whole SQL of released versions, which is not installed: a test that begins with one puts it beside what is."""
import tarfile

from servers import *

UPGRADE = os.path.join(ROOT, "sql", "upgrade")
PACKED = os.path.join(ROOT, "test", "upgrade", "releases.tar.xz")


def scripts():
    """{name: bytes}"""
    with tarfile.open(PACKED) as packed:
        return {member.name: packed.extractfile(member).read() for member in packed}


def install(prefix=DESTDIR, program=PG_CONFIG):
    """Writes them into the folder of extensions below the prefix; scripts beside this one may do the same."""
    folder = prefix + pg_config("--sharedir", program) + "/extension"
    for name, script in scripts().items():
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            with tempfile.NamedTemporaryFile(dir=folder, prefix=name + ".", delete=False) as f:
                f.write(script)
                os.chmod(f.name, 0o644)
            os.replace(f.name, path)
