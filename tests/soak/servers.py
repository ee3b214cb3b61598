"""Servers of the distribution as they run in earnest: they drop rights, fork workers, change their
root, limit themselves and filter their system calls.

A server is a command that stays in the foreground, the files that it needs, and a question with an
answer that every run gives. $F in commands and files is the run's folder, $PORT its port on the
loopback; $FILES is a folder with `file`, which every user may read.
"""
import glob
import os
import string
import subprocess

import clients


class Server:
    """@ask(server, number) asks once. @prepare is a shell script that runs in the folder, @owner gets
    all files then; the command begins as @user, as root by default, and may end with any of @ends_with
    when it is told to."""

    def __init__(self, name, package, command, ask, files=None, prepare="", owner=None, user=None,
                 ends_with=(0,)):
        self.name, self.package, self.words, self.ask_once = name, package, command, ask
        self.files, self.prepare, self.owner, self.user = files or {}, prepare, owner, user
        self.ends_with = ends_with
        self.folder = self.port = self.behind = None

    def program(self):
        """The path of the server's program, or None. Some names or folders have a version."""
        name = self.words.split()[0]
        places = [f"/usr/sbin/{name}", f"/usr/bin/{name}", f"/usr/lib/*/*/bin/{name}", f"/usr/sbin/{name}[0-9]*"]
        return next((path for place in places for path in sorted(glob.glob(place))), None)

    def fill(self, text):
        return string.Template(text).safe_substitute(F=self.folder, PORT=self.port, ECHO=self.behind,
                                                     FILES=self.folder + "/files")

    def lay_out(self, folder, port, behind):
        """Make the files of one run in @folder, which exists and is empty. @behind is the port of what
        proxies lead to."""
        self.folder, self.port, self.behind = folder, port, behind
        os.chmod(folder, 0o755)
        os.mkdir(folder + "/files")
        with open(folder + "/files/file", "w") as f:
            f.write("".join(f"line {i}\n" for i in range(2000)))
        for name, text in self.files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(self.fill(text))
        if self.prepare:
            subprocess.run(["sh", "-ec", self.fill(self.prepare)], check=True, cwd=folder, timeout=300,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        if self.owner:
            subprocess.run(["chown", "-R", self.owner, folder], check=True)

    def command(self):
        words = [self.program()] + self.fill(self.words).split()[1:]
        rights = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--init-groups"]
        return (rights if self.user else []) + words

    def ask(self, number):
        return self.ask_once(self, number)


ZONE = """$ORIGIN example.
@ 3600 IN SOA ns.example. root.example. 1 3600 600 86400 3600
@ 3600 IN NS ns
ns 3600 IN A 192.0.2.1
www 3600 IN A 192.0.2.2
"""
SLAPD = """include /etc/ldap/schema/core.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile $F/run/pid
database mdb
suffix "dc=example"
directory $F/db
"""
CERTIFICATE = ("openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2"
               " -subj /CN=localhost")
QUERY = """select sum(i * i % 7) from generate_series(1, 20000) i;
select count(*) from pg_class a join pg_attribute b on a.oid = attrelid where relname = 'pg_class'"""
AS_POSTGRES = "setpriv --reuid=postgres --regid=postgres --init-groups"


def of_http(path="/file"):
    return lambda server, number: clients.http(server.port, path)


def of_dns(name="www.example"):
    return lambda server, number: clients.dns(server.port, name)


def of_port(ask):
    return lambda server, number: ask(server.port)


def of_number(ask):
    return lambda server, number: ask(server.port, number)


def ask_postgres(server, _number):
    return clients.command("psql", "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres", "-Atc", QUERY)


def ask_mariadb(server, _number):
    return clients.command("mariadb", "-h", "127.0.0.1", "-P", str(server.port), "--skip-ssl", "-Nse",
                           "select count(*) > 0 from information_schema.tables;"
                           "select benchmark(20000, md5('x'))")


def ask_sshd(server, _number):
    options = [word for option in ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR")
               for word in ("-o", option)]
    return clients.command("ssh", "-F", "none", "-p", str(server.port), "-i", server.folder + "/key", *options,
                           "root@127.0.0.1", "echo hello; id -u")


def ask_rsync(server, number):
    return clients.command("rsync", f"rsync://127.0.0.1:{server.port}/files/file", "--ignore-times",
                           "--out-format=%n %l", f"{server.folder}/got-{number % 16}")


def ask_squid(server, _number):
    return clients.http(server.port, f"http://127.0.0.1:{server.behind}/x")


SERVERS = [
    Server("nginx", "nginx-light", "nginx -p $F -c $F/conf -e $F/log", of_http(), {"conf": """
daemon off; user www-data; worker_processes 2; pid $F/pid; error_log $F/log;
events { worker_connections 256; }
http { access_log off; gzip on; server { listen 127.0.0.1:$PORT; root $FILES; } }
"""}),
    Server("apache2", "apache2", "apache2 -f $F/conf -DFOREGROUND", of_http(), {"conf": """
ServerRoot $F
ServerName localhost
Listen 127.0.0.1:$PORT
PidFile $F/pid
ErrorLog $F/log
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
User www-data
Group www-data
ServerLimit 2
StartServers 2
ThreadsPerChild 25
DocumentRoot $FILES
"""}),
    Server("lighttpd", "lighttpd", "lighttpd -D -f $F/conf", of_http(), {"conf": """
server.modules = ()
server.document-root = "/files"
server.chroot = "$F"
server.port = $PORT
server.bind = "127.0.0.1"
server.username = "www-data"
server.groupname = "www-data"
server.max-fds = 512
"""}),
    Server("haproxy", "haproxy", "haproxy -W -f $F/conf", of_http("/"), {"conf": """
global
    chroot $F/files
    user haproxy
    group haproxy
    nbthread 2
    maxconn 500
defaults
    mode http
    timeout client 30s
    timeout connect 30s
    timeout server 30s
frontend here
    bind 127.0.0.1:$PORT
    http-request return status 200 content-type text/plain string "hello"
"""}, ends_with=(0, 143)),
    Server("redis", "redis-server", "redis-server $F/conf", of_number(clients.redis), {"conf": """
bind 127.0.0.1
port $PORT
dir $F
save 5 100
appendonly yes
io-threads 2
"""}),
    Server("memcached", "memcached", "memcached -u memcache -l 127.0.0.1 -p $PORT -m 64 -t 4 -r",
           of_number(clients.memcached)),
    Server("postgres", "postgresql", "postgres -D $F/db -p $PORT -c listen_addresses=127.0.0.1 -k $F",
           ask_postgres,
           prepare="chown postgres . && PATH=$$PATH:$$(echo /usr/lib/postgresql/*/bin) && "
                   f"{AS_POSTGRES} initdb -A trust -U postgres -D db",
           user="postgres"),
    Server("mariadb", "mariadb-server", "mariadbd --no-defaults --datadir=$F/db --user=mysql --port=$PORT"
           " --bind-address=127.0.0.1 --socket=$F/socket --pid-file=$F/db/pid --skip-grant-tables"
           " --skip-networking=0", ask_mariadb,
           prepare="mkdir db && chown mysql . db && "
                   "mariadb-install-db --no-defaults --datadir=$F/db --user=mysql"),
    Server("sshd", "openssh-server", "sshd -D -e -f $F/conf",
           ask_sshd,
           {"conf": """
Port $PORT
ListenAddress 127.0.0.1
HostKey $F/host
AuthorizedKeysFile $F/key.pub
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile $F/pid
MaxStartups 100
"""}, prepare="mkdir -p /run/sshd; for i in host key; do ssh-keygen -q -t ed25519 -N '' -f $$i; done",
           ends_with=(0, 255, 143)),
    Server("dnsmasq", "dnsmasq-base", "dnsmasq -k -C $F/conf", of_dns(), {"conf": """
port=$PORT
listen-address=127.0.0.1
bind-interfaces
no-resolv
no-hosts
user=nobody
pid-file=$F/pid
address=/www.example/192.0.2.2
"""}),
    Server("unbound", "unbound", "unbound -d -p -c $F/conf", of_dns(), {"conf": """
server:
    interface: 127.0.0.1@$PORT
    chroot: "$F"
    directory: "$F"
    username: "unbound"
    num-threads: 2
    use-syslog: no
    logfile: ""
    auto-trust-anchor-file: ""
    local-data: "www.example. A 192.0.2.2"
remote-control:
    control-enable: no
"""}, prepare="chown -R unbound ."),
    Server("named", "bind9", "named -f -c $F/conf -u bind -n 2", of_dns(), {"conf": """
options { directory "$F/state"; pid-file "$F/state/pid"; session-keyfile none; dnssec-validation no;
  listen-on port $PORT { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; };
controls { };
zone "example" { type primary; file "$F/zone"; };
""", "zone": ZONE}, prepare="mkdir state && chown bind state"),
    Server("nsd", "nsd", "nsd -d -c $F/conf", of_dns(), {"conf": """
server:
    ip-address: 127.0.0.1@$PORT
    chroot: "$F"
    username: nsd
    zonesdir: "$F"
    database: ""
    pidfile: "$F/state/pid"
    xfrdfile: "$F/state/xfrd"
    zonelistfile: "$F/state/zones"
    xfrdir: "$F/state"
    server-count: 2
    rrl-ratelimit: 0
remote-control:
    control-enable: no
zone:
    name: example
    zonefile: "$F/zone"
""", "zone": ZONE}, prepare="mkdir state && chown nsd state"),
    Server("chronyd", "chrony", "chronyd -n -x -F 1 -u _chrony -f $F/conf", of_port(clients.ntp), {"conf": """
port $PORT
cmdport 0
bindcmdaddress /
bindaddress 127.0.0.1
allow 127.0.0.1
local stratum 10
pidfile $F/pid
"""}),
    Server("vsftpd", "vsftpd", "vsftpd $F/conf", of_port(clients.ftp), {"conf": """
listen=YES
listen_address=127.0.0.1
listen_port=$PORT
background=NO
anonymous_enable=YES
anon_root=$FILES
no_anon_password=YES
# Its filter of 2009 kills it on today's kernels.
seccomp_sandbox=NO
secure_chroot_dir=$F/empty
max_per_ip=0
max_clients=0
ftpd_banner=hello
"""}, prepare="mkdir empty; id ftp >/dev/null 2>&1 || useradd -r -d $FILES ftp", ends_with=(0, -15, 143)),
    Server("rsync", "rsync", "rsync --daemon --no-detach --config=$F/conf --port=$PORT --address=127.0.0.1",
           ask_rsync,
           {"conf": """
uid = nobody
gid = nogroup
use chroot = yes
pid file = $F/pid
[files]
    path = $FILES
    read only = yes
"""}, ends_with=(0, 20)),
    Server("mosquitto", "mosquitto", "mosquitto -c $F/conf", of_number(clients.mqtt), {"conf": """
listener $PORT 127.0.0.1
allow_anonymous true
user mosquitto
"""}),
    Server("slapd", "slapd", "slapd -d 0 -h ldap://127.0.0.1:$PORT -u openldap -g openldap -f $F/conf",
           of_port(clients.ldap), {"conf": SLAPD}, prepare="mkdir db run", owner="openldap"),
    Server("exim", "exim4-daemon-light", "exim4 -C $F/conf -bdf -q30m -oX 127.0.0.1.$PORT", of_port(clients.smtp),
           {"conf": """
primary_hostname = localhost
spool_directory = $F/spool
log_file_path = $F/spool/log-%s
pid_file_path = $F/spool/pid
acl_smtp_rcpt = ok
acl_smtp_data = ok
smtp_accept_max = 0
smtp_load_reserve = 1000
begin acl
ok:
  accept
begin routers
drop:
  driver = redirect
  data = :blackhole:
"""}, prepare="mkdir spool && chown Debian-exim spool", ends_with=(0, 143, -15)),
    Server("dovecot", "dovecot-imapd", "dovecot -F -c $F/conf", of_port(clients.imap), {"conf": """
base_dir = $F/run
state_dir = $F/run
log_path = $F/log
protocols = imap
ssl = no
disable_plaintext_auth = no
listen = 127.0.0.1
service imap-login {
  inet_listener imap {
    port = $PORT
  }
  inet_listener imaps {
    port = 0
  }
}
service anvil {
  client_limit = 5000
}
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=www-data gid=www-data home=$F/home/%u
}
mail_location = maildir:~/mail
first_valid_uid = 1
mail_max_userip_connections = 1000
"""}, prepare="mkdir run home && chown www-data home"),
    Server("stunnel", "stunnel4", "stunnel4 $F/conf", of_port(clients.tls), {"conf": """
foreground = yes
setuid = stunnel4
setgid = stunnel4
chroot = $F/files
pid =
syslog = no
debug = err
cert = $F/cert.pem
key = $F/key.pem
[echo]
accept = 127.0.0.1:$PORT
connect = 127.0.0.1:$ECHO
"""}, prepare=CERTIFICATE),
    Server("php-fpm", "php-fpm", "php-fpm -F -n -R -y $F/conf", of_port(clients.fastcgi), {"conf": """
[global]
error_log = $F/log
[www]
listen = 127.0.0.1:$PORT
user = www-data
group = www-data
pm = dynamic
pm.max_children = 4
pm.start_servers = 2
pm.min_spare_servers = 1
pm.max_spare_servers = 3
pm.max_requests = 500
chroot = $FILES
rlimit_files = 256
""", "files/work.php": """<?php
function f($$n) { return $$n < 2 ? $$n : f($$n - 1) + f($$n - 2); }
echo f(16);
"""}),
    Server("ngircd", "ngircd", "ngircd -n -f $F/conf", of_number(clients.irc), {"conf": """
[Global]
    Name = irc.example
    Info = x
    Listen = 127.0.0.1
    Ports = $PORT
    ServerUID = irc
    ServerGID = irc
    MotdPhrase = "hello"
[Limits]
    MaxConnectionsIP = 0
    MaxConnections = 0
    MaxJoins = 0
[Options]
    ChrootDir = $F/files
    DNS = no
    Ident = no
    PAM = no
"""}),
    Server("squid", "squid", "squid --foreground -f $F/conf", ask_squid, {"conf": """
http_port 127.0.0.1:$PORT
acl here src 127.0.0.1
http_access allow here
cache deny all
pid_filename $F/state/pid
cache_log $F/state/log
access_log none
netdb_filename none
coredump_dir $F/state
pinger_enable off
shutdown_lifetime 1 second
cache_effective_user proxy
"""}, prepare="mkdir state && chown proxy state"),
]
