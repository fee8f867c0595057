#!/usr/bin/python3
"""The viewer's server against strangers: 60 combinations of Host, Origin and token; a thousand connections, idle and stalled
readers. The simulation's output must be the bytes of a run that nobody watched."""

import argparse
import base64
import hashlib
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMBER = ROOT / "build/release/limber"
SCENE = ROOT / "scenes/coupled-pendulums.yaml"


class View:
    """limber view, and what is known of its address."""

    def __init__(self, *words):
        self.process = subprocess.Popen([str(LIMBER), "view", "--no-open", *map(str, words)], stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            match = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]+)", line)
            if match:
                self.port, self.token = int(match[1]), match[2]
                break

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=60)
        self.process.stderr.close()
        return code

    def connect(self, timeout=30):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def status(self, field):
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(rf"^{field}:\s+(\d+)", text, re.M)[1])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def upgrade_request(view, host, origin, token, path="/live"):
    lines = [f"GET {path}?token={token} HTTP/1.1" if token is not None else f"GET {path} HTTP/1.1"]
    lines += [f"Host: {host}"] if host is not None else []
    lines += [f"Origin: {origin}"] if origin is not None else []
    key = base64.b64encode(os.urandom(16)).decode()
    lines += ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def receive_all(connection, seconds=10):
    connection.settimeout(seconds)
    data = b""
    try:
        while chunk := connection.recv(65536):
            data += chunk
    except (TimeoutError, ConnectionError):
        pass
    return data


def receive_exactly(connection, count):
    data = b""
    while len(data) < count:
        chunk = connection.recv(count - len(data))
        if not chunk:
            raise ConnectionError("closed")
        data += chunk
    return data


def open_live(view):
    """A viewer as the page itself is; after its first message."""
    connection = view.connect()
    host = f"127.0.0.1:{view.port}"
    connection.sendall(upgrade_request(view, host, f"http://{host}", view.token))
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += receive_exactly(connection, 1)
    assert b" 101 " in head.split(b"\r\n")[0], head
    return connection


def read_message(connection):
    kind, length = receive_exactly(connection, 2)
    length &= 127
    if length == 126:
        length = struct.unpack(">H", receive_exactly(connection, 2))[0]
    elif length == 127:
        length = struct.unpack(">Q", receive_exactly(connection, 8))[0]
    return kind & 15, receive_exactly(connection, length)


class Strangers(unittest.TestCase):
    def test_only_the_page_gets_in(self):
        """Six hosts, five origins, two tokens, for the WebSocket."""
        view = View(SCENE)
        self.addCleanup(view.process.kill)
        own = f"127.0.0.1:{view.port}"
        hosts = [own, "127.0.0.1", f"127.0.0.1:{view.port + 1}", "example.com", f"example.com:{view.port}", None]
        origins = [f"http://{own}", "http://example.com", "null", f"https://{own}", None]
        tokens = [view.token, view.token[:-1] + ("0" if view.token[-1] != "0" else "1")]
        let_in, refused = [], 0
        for host in hosts:
            for origin in origins:
                for token in tokens:
                    with view.connect() as connection:
                        connection.sendall(upgrade_request(view, host, origin, token))
                        connection.settimeout(10)
                        first = connection.recv(4096)
                        if first.startswith(b"HTTP/1.1 101"):
                            let_in.append((host, origin, token))
                            continue
                        answer = first + receive_all(connection)
                        self.assertTrue(answer.startswith(b"HTTP/1.1 403 "), (host, origin, token, answer[:80]))
                        self.assertEqual(answer.partition(b"\r\n\r\n")[2], b"403: not allowed\n")
                        self.assertNotIn(b"Access-Control", answer)
                        refused += 1
        self.assertEqual(let_in, [(own, f"http://{own}", view.token)])
        self.assertEqual(refused, 59)
        self.assertEqual(view.stop(), 0)

    def test_the_page_itself(self):
        view = View(SCENE)
        self.addCleanup(view.process.kill)
        own = f"127.0.0.1:{view.port}"

        def get(target, host=own, extra=""):
            with view.connect() as connection:
                connection.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}\r\n{extra}\r\n".encode())
                return receive_all(connection)

        page = get(f"/?token={view.token}")
        self.assertTrue(page.startswith(b"HTTP/1.1 200 "))
        self.assertIn(b"<title>limber</title>", page)
        self.assertNotIn(b"Access-Control", page)
        for target in ("/", "/?token=", f"/?token={view.token}x", f"/?Token={view.token}", f"/#token={view.token}"):
            self.assertTrue(get(target).startswith(b"HTTP/1.1 403 "), target)
        for host in ("example.com", "example.com:" + str(view.port), "127.0.0.1"):
            self.assertTrue(get(f"/?token={view.token}", host).startswith(b"HTTP/1.1 403 "), host)
        self.assertTrue(get(f"/?token={view.token}", own, "Origin: http://example.com\r\n").startswith(b"HTTP/1.1 403 "))
        for target in ("/etc/passwd", "/../../etc/passwd", "/index.html", "/%2e%2e/etc/passwd", "//etc/passwd"):
            self.assertTrue(get(f"{target}?token={view.token}").startswith(b"HTTP/1.1 404 "), target)
        # What is no request, or too long a one, ends the connection and nothing else.
        for bad in (b"\x00\xff" * 100, b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n"):
            with view.connect() as connection:
                try:
                    connection.sendall(bad)
                    self.assertNotIn(b"200", receive_all(connection, 2)[:15])
                except ConnectionError:
                    pass
        self.assertGreaterEqual(len(view.token), 32)  # 128 bits
        self.assertEqual(view.stop(), 0)

    def test_addresses(self):
        """What cannot be listened on is an I/O error; what others can reach is warned of."""
        view = View(SCENE)
        self.addCleanup(view.process.kill)
        for words in (("--host", "nonsense"), ("--host", "192.0.2.1"), ("--port", str(view.port))):
            done = subprocess.run([str(LIMBER), "view", "--no-open", str(SCENE), *words], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 4, words)
            self.assertIn(words[1], done.stderr)
        self.assertEqual(view.stop(), 0)
        opened = subprocess.Popen([str(LIMBER), "view", "--no-open", "--host", "0.0.0.0", str(SCENE)], stderr=subprocess.PIPE, text=True)
        self.addCleanup(opened.kill)
        first = opened.stderr.readline()
        self.assertIn("warning: 0.0.0.0 is open to other computers", first)
        opened.send_signal(signal.SIGINT)
        self.assertIn(opened.wait(timeout=60), (0, 130))
        opened.stderr.close()

    def test_nonsense_of_a_viewer_ends_nothing(self):
        view = View(SCENE)
        self.addCleanup(view.process.kill)
        connection = open_live(view)
        notes = 0
        for text in (b"{", b"[]", b"7", b'{"do":5}', b'{"do":"grab"}', b'{"do":"set","name":"nothing","value":"1"}', b'{"do":"speed","value":-1}',
                     b'{"do":"method","name":"x"}', b'{"do":"rewind","time":1e300}', b'{"do":"jump"}', b'{"do":"set","name":"stiffness","value":"3 kg"}'):
            mask = os.urandom(4)
            body = bytes(b ^ mask[i % 4] for i, b in enumerate(text))
            connection.sendall(bytes([0x81, 0x80 | len(text)]) + mask + body)
            # One at a time: wishes that wait together are answered together. One of them is taken without a word.
            until = time.monotonic() + 3
            while time.monotonic() < until:
                kind, data = read_message(connection)
                if kind == 1 and b'"note"' in data:
                    notes += 1
                    if b'"jump"' in text:  # a command that there is not
                        self.assertIn(b"unknown command", data)
                    break
        self.assertGreaterEqual(notes, 10)
        connection.close()
        self.assertEqual(view.stop(), 0)


class Crowd(unittest.TestCase):
    def test_a_crowd_changes_nothing(self):
        """1,000 connects, 50 idle ones and 5 that do not read: no crash, no leak, and the frames of an unwatched run."""
        folder = Path(tempfile.mkdtemp(prefix="limber_crowd_"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        scene = ROOT / "scenes/bridge.yaml"
        subprocess.run([str(LIMBER), "run", str(scene), "--time", "4 s", "--quiet", "--no-vtk", "--no-glb", "--no-report", "--out",
                        str(folder / "alone")], check=True)
        view = View(scene, "--time", "4 s", "--record", folder / "frames")
        self.addCleanup(view.process.kill)
        stalled = [open_live(view) for _ in range(5)]  # they never read again
        idle = [view.connect() for _ in range(50)]
        for k in range(100):
            view.connect().close()
        for _ in range(500):  # until the server has taken all that stay open, which it does in its own time
            if view.descriptors() >= len(stalled) + len(idle):
                break
            time.sleep(0.01)
        descriptors, memory = view.descriptors(), view.status("VmRSS")
        for k in range(1000):
            with view.connect() as connection:
                if k % 4 == 1:
                    connection.sendall(b"GET / HTTP/1.1\r\n")
                if k % 4 == 2:
                    connection.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{view.port}\r\n\r\n".encode())
                    self.assertTrue(receive_all(connection).startswith(b"HTTP/1.1 403"))
        for line in view.process.stderr:
            if "the recording is complete" in line:
                break
        # A viewer that comes now still gets frames.
        late = open_live(view)
        while read_message(late)[0] != 2:
            pass
        time.sleep(0.3)
        self.assertLess(view.descriptors(), descriptors + 20)
        self.assertLess(view.status("VmRSS"), memory + 60_000)  # kB; the past to go back to grows meanwhile
        self.assertEqual(view.stop(), 0)
        for connection in stalled + idle + [late]:
            connection.close()
        alone, crowded = ((folder / name).read_bytes() for name in ("alone/frames", "frames"))
        self.assertEqual(hashlib.sha256(alone).hexdigest(), hashlib.sha256(crowded).hexdigest())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--limber", type=Path, default=LIMBER)
    known, rest = parser.parse_known_args()
    LIMBER = known.limber.resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
