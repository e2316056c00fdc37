# SPDX-License-Identifier: GPL-2.0-or-later
"""Private MariaDB, MySQL and PostgreSQL servers: own folder, sockets, free ports and certificates.

Usable as any user; as root the servers run as the users `mysql` and `postgres`. A server dies with
the process that started it. MySQL is used where BENCH_MYSQL names the folder of a distribution.
"""

import ctypes
import glob
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

USER, PASSWORD, DATABASE = "spec_user", "spec_pw", "spec_db"
START_S = 180
# Most tests start it elsewhere: at the source root, ./src/lua comes before the installed scripts.
BENCH = os.path.abspath(os.environ["BENCH"]) if os.environ.get("BENCH") else ""
# A script that fetches two rows, for servers whose second one is malformed.
FETCHING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fetching.lua")


CLAIMS = []  # sockets whose names are the ports that this process has given away


def claim(port):
    """Whether no other test has been given the port, of this process or another."""
    held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        held.bind(f"\0bench-port-{port}")
    except OSError:
        held.close()
        return False
    CLAIMS.append(held)
    return True


def free_port():
    """One that no outgoing connection gets while a server is down for a moment, and no other server
    before it is started."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        if claim(port):
            return port


def find_program(name):
    """A server program on the path or where distributions hide it; None: not installed."""
    path = os.pathsep.join(
        [os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]
        + sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    )
    return shutil.which(name, path=path)


def account_for(name):
    """Who a server runs as: NAME for root, who may not; else whoever we are."""
    return pwd.getpwnam(name) if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())


def place_of_folders():
    """Memory where there is enough: the file tests beside us can hold up a disk for seconds."""
    memory = pathlib.Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK):
        there = os.statvfs(memory)
        if there.f_bavail * there.f_frsize > 6 << 30:
            return str(memory)
    return "/tmp"


def make_folder(prefix, account):
    """A short path, since names of sockets are limited to 107 bytes."""
    folder = tempfile.mkdtemp(prefix=prefix, dir=place_of_folders())
    os.chown(folder, account.pw_uid, account.pw_gid)
    os.chmod(folder, 0o755)
    return folder


def die_with_parent():
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def run_as(account, argv, **kwargs):
    """Starts a process as that account."""
    if os.geteuid() == 0:
        kwargs.update(user=account.pw_uid, group=account.pw_gid, extra_groups=[])
    env = {**os.environ, "LC_ALL": "C", "HOME": account.pw_dir}
    return subprocess.Popen(argv, preexec_fn=die_with_parent, env=env, **kwargs)


def run_to_end(account, argv, **kwargs):
    process = run_as(
        account, argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kwargs
    )
    out, _ = process.communicate(timeout=180)
    if process.returncode != 0:
        raise RuntimeError(f"{argv[0]} failed:\n{out}")
    return out


def runs(pid):
    """Whether the process has not ended, waited for or not."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Certificates:
    """Two authorities, and certificates of servers: for 127.0.0.1 and for some other host."""

    def __init__(self, folder):
        self.folder = folder
        self.ca = self._authority("ca")
        self.other_ca = self._authority("other-ca")
        self.cert, self.key = self._signed("server", "127.0.0.1", "IP:127.0.0.1,DNS:localhost")
        self.wrong_cert, self.wrong_key = self._signed("wrong", "db.invalid", "DNS:db.invalid")
        self.client_cert, self.client_key = self._signed("client", USER, "DNS:client.invalid")

    def path(self, name):
        return os.path.join(self.folder, name)

    def _openssl(self, *argv):
        subprocess.run(["openssl", *argv], check=True, capture_output=True)

    def _key(self, name):
        path = self.path(name + ".key")
        self._openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)
        return path

    def _authority(self, name):
        key, cert = self._key(name), self.path(name + ".pem")
        self._openssl("req", "-x509", "-new", "-key", key, "-days", "30", "-subj", f"/CN=bench {name}",
                      "-addext", "basicConstraints=critical,CA:TRUE", "-out", cert)
        return cert

    def _signed(self, name, common_name, alt_names):
        key, request, cert = self._key(name), self.path(name + ".csr"), self.path(name + ".pem")
        ext = self.path(name + ".ext")
        with open(ext, "w") as f:
            f.write(f"subjectAltName={alt_names}\nbasicConstraints=CA:FALSE\n")
        self._openssl("req", "-new", "-key", key, "-subj", f"/CN={common_name}", "-out", request)
        self._openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.path("ca.key"),
                      "-CAcreateserial", "-days", "30", "-extfile", ext, "-out", cert)
        return cert, key


class Server:
    """What both kinds have in common; `process` is the server itself, not a wrapper."""

    def __init__(self, account):
        self.account = account
        self.folder = make_folder("bench-" + self.kind + "-", account)
        self.port = free_port()
        self.process = None
        self.log = open(self.path("server.log"), "ab")
        os.chown(self.path("server.log"), account.pw_uid, account.pw_gid)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start_somewhere(self):
        """Starts; on another port if somebody took ours meanwhile."""
        for _ in range(3):
            try:
                return self.start()
            except RuntimeError:
                self.port = free_port()
        return self.start()

    def start(self):
        self.process = run_as(
            self.account, self.command(), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            cwd=self.folder,
        )
        self.wait_ready()

    def install_certificate(self, cert, key):
        for source, name in ((cert, "server.pem"), (key, "server.key")):
            shutil.copy(source, self.path(name))
            os.chown(self.path(name), self.account.pw_uid, self.account.pw_gid)
            os.chmod(self.path(name), 0o600)

    def wait_ready(self):
        end = time.monotonic() + START_S
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > end:
                with open(self.path("server.log"), errors="replace") as f:
                    raise RuntimeError(f"{self.kind} did not start:\n{f.read()[-4000:]}")
            time.sleep(0.05)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def freeze(self):
        """Returns when nothing of the server itself runs any more."""
        self._signal_all(signal.SIGSTOP)
        end = time.monotonic() + START_S
        while not self._stopped() and time.monotonic() < end:
            time.sleep(0.01)

    def _stopped(self):
        states = []
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/stat"):
            with open(path) as f:
                states.append(f.read().rpartition(")")[2].split()[0])
        return set(states) == {"T"}

    def thaw(self):
        self._signal_all(signal.SIGCONT)

    def _children(self):
        try:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as f:
                return [int(pid) for pid in f.read().split()]
        except FileNotFoundError:
            return []  # it has ended

    def _signal_all(self, number):
        """The server and its children, of which PostgreSQL has one per connection."""
        for pid in [self.process.pid] + self._children():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def stop(self):
        if self.process and self.process.poll() is None:
            self.thaw()
            self.process.send_signal(self.stop_signal)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.kill()

    def remove(self):
        self.stop()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class MariaDB(Server):
    kind = "mariadb"
    vendor = "MariaDB"
    driver = "mysql"
    stop_signal = signal.SIGTERM
    isolation = "@@tx_isolation"
    primary_key = "PRIMARY"  # as errors name that of table t
    reload_tls = "FLUSH SSL"
    no_tls = []
    own_options = ["--innodb-log-file-size=64M"]

    def __init__(self, certificates=None, template=None, options=()):
        super().__init__(account_for("mysql"))
        self.socket = self.path("s.sock")
        self.certificates = certificates
        self.options = list(options)
        if template:
            run_to_end(self.account, ["cp", "-r", template, self.path("data")])
        else:
            self.make_template(self.path("data"))

    @staticmethod
    def make_template(folder):
        """Files of a fresh server, to be copied."""
        account = account_for("mysql")
        run_to_end(account, [
            find_program("mariadb-install-db"), "--no-defaults", "--auth-root-authentication-method=normal",
            "--skip-test-db", f"--datadir={folder}", f"--tmpdir={os.path.dirname(folder)}",
            "--innodb-log-file-size=16M",
        ])
        return folder

    @classmethod
    def missing(cls):
        for name in ("mariadbd", "mariadb-install-db", "mariadb"):
            if not find_program(name):
                return f"no {name}: install mariadb-server"
        return None

    def command(self):
        argv = [
            self.program(), "--no-defaults", f"--datadir={self.path('data')}",
            f"--socket={self.socket}", f"--port={self.port}", "--bind-address=127.0.0.1",
            f"--pid-file={self.path('pid')}", f"--log-error={self.path('server.log')}",
            # Servers that start at the same time remove each other's tables from a shared one.
            f"--tmpdir={self.folder}",
            "--max-connections=1200", "--max-prepared-stmt-count=1000000", "--max-allowed-packet=256M",
            "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=128M",
            "--sync-binlog=0", "--skip-log-bin", "--back-log=1024",
            f"--general-log-file={self.path('general.log')}", "--local-infile=1",
        ]
        if self.certificates:
            argv += self.tls_options(self.certificates.cert, self.certificates.key)
        else:
            argv += self.no_tls
        return argv + self.own_options + self.options

    @staticmethod
    def program():
        return find_program("mariadbd")

    @staticmethod
    def client():
        return find_program("mariadb")

    def tls_options(self, cert, key):
        self.install_certificate(cert, key)
        return [f"--ssl-cert={self.path('server.pem')}", f"--ssl-key={self.path('server.key')}"]

    def use_certificate(self, cert, key):
        """From now on."""
        self.install_certificate(cert, key)
        self.sql(self.reload_tls)

    def sql(self, text, check=True):
        """Output of statements run as the administrator, tabs between columns."""
        result = subprocess.run(
            [self.client(), "--no-defaults", f"--socket={self.socket}", "--user=root", "--batch",
             "--skip-column-names"],
            input=text, capture_output=True, text=True)
        if check and result.returncode != 0:
            raise RuntimeError(result.stderr)
        return result.stdout

    def answers(self):
        result = subprocess.run(
            [self.client(), "--no-defaults", f"--socket={self.socket}", "--user=root", "-e",
             "SELECT 1"],
            capture_output=True)
        return result.returncode == 0

    def create_user(self):
        self.sql(
            f"CREATE DATABASE IF NOT EXISTS {DATABASE};"
            + "".join(
                f"CREATE USER IF NOT EXISTS '{USER}'@'{host}' IDENTIFIED BY '{PASSWORD}';"
                f"GRANT ALL ON {DATABASE}.* TO '{USER}'@'{host}';"
                for host in ("localhost", "%")
            )
        )

    def login(self, by="socket"):
        """The program's options for this server."""
        argv = ["--db-driver=mysql", f"--mysql-user={USER}", f"--mysql-password={PASSWORD}",
                f"--mysql-db={DATABASE}"]
        if by == "socket":
            return argv + [f"--mysql-socket={self.socket}"]
        return argv + ["--mysql-host=127.0.0.1", f"--mysql-port={self.port}"]


class MySQL(MariaDB):
    """Oracle's, of the distribution in BENCH_MYSQL; its users have caching_sha2_password."""

    kind = "mysql"
    vendor = "MySQL"
    isolation = "@@transaction_isolation"
    primary_key = "t.PRIMARY"
    reload_tls = "ALTER INSTANCE RELOAD TLS"
    no_tls = ["--tls-version="]
    own_options = ["--innodb-redo-log-capacity=64M", "--mysqlx=OFF"]

    @classmethod
    def make_template(cls, folder):
        run_to_end(account_for("mysql"), [
            cls.program(), "--no-defaults", "--initialize-insecure", f"--datadir={folder}",
            "--innodb-redo-log-capacity=16M",
        ])
        return folder

    @classmethod
    def missing(cls):
        for program in (cls.program(), cls.client()):
            if not os.access(program, os.X_OK):
                return f"no {program}"
        return None

    @staticmethod
    def program():
        return os.path.join(os.environ["BENCH_MYSQL"], "bin/mysqld")

    @staticmethod
    def client():
        return os.path.join(os.environ["BENCH_MYSQL"], "bin/mysql")


def mysql_kind():
    """The class of the servers that the driver `mysql` is tried with."""
    return MySQL if os.environ.get("BENCH_MYSQL") else MariaDB


class PostgreSQL(Server):
    kind = "pg"
    driver = "pgsql"
    isolation = "current_setting('transaction_isolation')"
    stop_signal = signal.SIGINT  # fast shutdown

    def __init__(self, certificates=None, options=()):
        super().__init__(account_for("postgres"))
        self.certificates = certificates
        self.options = list(options)
        run_to_end(self.account, [
            find_program("initdb"), "-D", self.path("data"), "-U", "postgres", "--no-sync",
            "--encoding=UTF8", "--locale=C", "--auth=trust",
        ])
        with open(self.path("data/pg_hba.conf"), "w") as f:
            f.write("local all postgres trust\nlocal all all scram-sha-256\n"
                    "host all all 127.0.0.1/32 scram-sha-256\n")

    @staticmethod
    def missing():
        for name in ("postgres", "initdb", "psql"):
            if not find_program(name):
                return f"no {name}: install postgresql"
        return None

    def command(self):
        settings = [
            f"port={self.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}",
            "max_connections=1200", "fsync=off", "synchronous_commit=off", "full_page_writes=off",
            "shared_buffers=128MB", "max_wal_size=2GB", "log_line_prefix=%c|", "autovacuum=off",
            "deadlock_timeout=100ms",
        ]
        if self.certificates:
            settings += ["ssl=on"] + self.tls_settings(self.certificates.cert, self.certificates.key)
        argv = [find_program("postgres"), "-D", self.path("data")]
        for setting in settings + self.options:
            argv += ["-c", setting]
        return argv

    def tls_settings(self, cert, key):
        self.install_certificate(cert, key)
        return [f"ssl_cert_file={self.path('server.pem')}", f"ssl_key_file={self.path('server.key')}"]

    def use_certificate(self, cert, key):
        """For connections that begin from now on."""
        self.install_certificate(cert, key)
        before = os.path.getsize(self.path("server.log"))
        self.sql("SELECT pg_reload_conf()")
        end = time.monotonic() + START_S
        # Who reads the files accepts connections too, and so none between this line and their end.
        while not self._logged(b"received SIGHUP", before) and time.monotonic() < end:
            time.sleep(0.02)

    def _logged(self, text, begin):
        with open(self.path("server.log"), "rb") as f:
            f.seek(begin)
            return text in f.read()

    def kill(self):
        """And waits for the children, whose memory would keep the next start from beginning."""
        children = self._children()
        super().kill()
        end = time.monotonic() + 20
        while any(map(runs, children)) and time.monotonic() < end:
            time.sleep(0.02)

    def sql(self, text, database=DATABASE, check=True):
        """Output of statements run as the administrator, tabs between columns."""
        result = subprocess.run(
            [find_program("psql"), "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h",
             self.folder, "-p", str(self.port), "-U", "postgres", "-d", database],
            input=text, capture_output=True, text=True)
        if check and result.returncode != 0:
            raise RuntimeError(result.stderr)
        return result.stdout

    def answers(self):
        result = subprocess.run(
            [find_program("psql"), "-X", "-h", self.folder, "-p", str(self.port), "-U", "postgres", "-d",
             "postgres", "-c", "SELECT 1"],
            capture_output=True)
        return result.returncode == 0

    def create_user(self):
        self.sql(f"CREATE ROLE {USER} LOGIN PASSWORD '{PASSWORD}'", "postgres")
        self.sql(f"CREATE DATABASE {DATABASE} OWNER {USER}", "postgres")

    def login(self, by="tcp"):
        argv = ["--db-driver=pgsql", f"--pgsql-user={USER}", f"--pgsql-password={PASSWORD}",
                f"--pgsql-db={DATABASE}", f"--pgsql-port={self.port}"]
        return argv + ["--pgsql-host=" + (self.folder if by == "socket" else "127.0.0.1")]
