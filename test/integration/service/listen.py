"""listen.py SOCKET FILE: a service manager's end of sd_notify(3): each line of each message, into FILE.
SOCKET after an @ is an abstract name."""
import socket
import sys

name, path = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind("\0" + name[1:] if name[0] == "@" else name)
with open(path, "a", buffering=1, encoding="utf-8") as lines:
    print("listening", file=lines)
    while True:
        print(listener.recv(4096).decode(), file=lines)
