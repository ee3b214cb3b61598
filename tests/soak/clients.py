"""What clients ask servers, over loopback: each function asks once and returns the answer.

Answers hold nothing that differs from run to run (times, ids, ports), so that a server's answers can
be compared between a plain run and a recorded one. Whoever asks gets an exception when a connection
fails or an answer is cut.
"""
import os
import socket
import ssl
import struct
import subprocess

HOST = "127.0.0.1"
SECONDS = 30  # a busy machine may take its time; this ends what hangs


def connect(port):
    return socket.create_connection((HOST, port), SECONDS)


def read_all(stream):
    parts = []
    while part := stream.recv(65536):
        parts.append(part)
    return b"".join(parts)


def talk(stream, *turns):
    """Send each turn's bytes when the last answer has come; all answers. A turn is (bytes, how the
    answer ends)."""
    said = []
    for words, end in turns:
        stream.sendall(words)
        answer = b""
        while end not in answer:
            part = stream.recv(65536)
            if not part:
                raise ConnectionError(f"{words!r} was answered by {answer!r}")
            answer += part
        said.append(answer)
    return b"".join(said)


def http(port, path="/", host="localhost"):
    """Status and body."""
    with connect(port) as stream:
        stream.sendall(f"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        head, _, body = read_all(stream).partition(b"\r\n\r\n")
    return head.split(b"\r\n")[0].split(b" ", 1)[1] + b"\n" + body


def redis(port, number):
    key = f"key{number % 1000}"
    with connect(port) as stream:
        return talk(stream, (f"SET {key} {key * 20}\r\n".encode(), b"+OK\r\n"),
                    (f"GET {key}\r\n".encode(), b"\r\n" + (key * 20).encode() + b"\r\n"),
                    (b"EVAL \"local s = 0 for i = 1, 2000 do s = s + i end return s\" 0\r\n", b"\r\n")
                    )[-10:]


def memcached(port, number):
    key, value = f"key{number % 1000}", "v" * 500
    with connect(port) as stream:
        return talk(stream, (f"set {key} 0 0 {len(value)}\r\n{value}\r\n".encode(), b"STORED\r\n"),
                    (f"get {key}\r\n".encode(), b"END\r\n"))[-20:]


def dns(port, name, kind=1):
    """The answer's records, by UDP."""
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
        stream.settimeout(SECONDS)
        stream.connect((HOST, port))
        stream.send(struct.pack(">6H", 7, 0x0100, 1, 0, 0, 0) + labels + struct.pack(">B2H", 0, kind, 1))
        return stream.recv(4096)[2:]


def ntp(port):
    """Version, mode and stratum."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
        stream.settimeout(SECONDS)
        stream.connect((HOST, port))
        stream.send(b"\x23" + b"\0" * 47)
        answer = stream.recv(4096)
        return bytes([answer[0] & 0x3f, answer[1]])


def ftp(port):
    """`file` fetched by an anonymous user in passive mode."""
    with connect(port) as stream:
        talk(stream, (b"", b"220 "), (b"USER anonymous\r\n", b"230 "), (b"TYPE I\r\n", b"200 "))
        where = talk(stream, (b"PASV\r\n", b")")).decode().split("(")[1].split(")")[0].split(",")
        with connect(int(where[4]) * 256 + int(where[5])) as data:
            stream.sendall(b"RETR file\r\n")
            body = read_all(data)
        talk(stream, (b"", b"226 "))
        return body


def mqtt(port, number):
    """What is published comes back to who subscribed."""
    def packet(kind, body):
        return bytes([kind, len(body)]) + body

    def text(words):
        return struct.pack(">H", len(words)) + words

    name = f"t{os.getpid()}-{number}".encode()
    with connect(port) as stream:
        said = talk(stream, (packet(0x10, text(b"MQTT") + b"\x04\x02\0\x3c" + text(name)), b"\x20\x02\0\0"),
                    (packet(0x82, b"\0\x01" + text(name) + b"\0"), b"\x90\x03\0\x01\0"),
                    (packet(0x30, text(name) + b"hello"), b"hello"))
        return said[-5:]


def ldap(port):
    """The root entry, read by nobody in particular."""
    bind = bytes.fromhex("300c020101600702010304008000")
    search = (bytes.fromhex("3025020102632004000a01000a0100020100020100010100870b") + b"objectClass"
              + b"\x30\0")
    with connect(port) as stream:
        return talk(stream, (bind, b"\x04\0\x04\0"), (search, b"\x04\0\x04\0"))


def smtp(port):
    """A mail taken in."""
    with connect(port) as stream:
        said = talk(stream, (b"", b"220 "), (b"EHLO localhost\r\n", b"250 "),
                    (b"MAIL FROM:<a@localhost>\r\n", b"250 "), (b"RCPT TO:<b@localhost>\r\n", b"250 "),
                    (b"DATA\r\n", b"354 "), (b"Subject: x\r\n\r\nx\r\n.\r\n", b"250 OK"),
                    (b"QUIT\r\n", b"221 "))
        return b" ".join(line.split(b" ")[0][:3] for line in said.splitlines() if line[3:4] == b" ")


def imap(port):
    with connect(port) as stream:
        said = talk(stream, (b"", b"\r\n"), (b"a LOGIN joe secret\r\n", b"a OK"),
                    (b"b SELECT INBOX\r\n", b"b OK"), (b"c LOGOUT\r\n", b"c OK"))
        return b" ".join(word for word in (b"a OK", b"b OK", b"c OK") if word in said)


def irc(port, number):
    with connect(port) as stream:
        nick = f"n{number % 100000}"
        said = talk(stream, (f"NICK {nick}\r\nUSER x 0 * :x\r\n".encode(), b" 376 "),
                    (f"JOIN #c{number % 7}\r\n".encode(), b" 366 "), (b"QUIT\r\n", b"ERROR"))
        return b" 001 " if b" 001 " in said else said


def tls(port):
    """What comes back from an echo behind TLS."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(connect(port)) as stream:
        return talk(stream, (b"hello\n", b"hello\n"))


def fastcgi(port):
    """What /work.php prints."""
    def record(kind, body):
        return struct.pack(">BBHHBB", 1, kind, 1, len(body), 0, 0) + body

    values = {"SCRIPT_FILENAME": "/work.php", "REQUEST_METHOD": "GET"}
    pairs = b"".join(bytes([len(k), len(v)]) + k.encode() + v.encode() for k, v in values.items())
    with connect(port) as stream:
        stream.sendall(record(1, b"\0\x01\0\0\0\0\0\0") + record(4, pairs) + record(4, b"") + record(5, b""))
        answer, body = read_all(stream), b""
    while len(answer) >= 8:
        _, kind, _, length, padding, _ = struct.unpack(">BBHHBB", answer[:8])
        body += answer[8:8 + length] if kind in (6, 7) else b""
        answer = answer[8 + length + padding:]
    return body.partition(b"\r\n\r\n")[2]


def command(*words):
    """What a client program prints."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS,
                          stdin=subprocess.DEVNULL)
    if done.returncode:
        raise ConnectionError(f"{words[0]}: status {done.returncode}: {done.stderr[-300:]!r}")
    return done.stdout
