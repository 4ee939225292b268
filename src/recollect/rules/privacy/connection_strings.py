"""Passwords inside addresses, connection strings and command lines."""

import re

from recollect.rules.privacy.placeholders import is_template
from recollect.rules.privacy.rule import Rule, Span, marked
from recollect.rules.privacy.triggers import always


def _filled_in(match: re.Match[str]) -> Span | None:
    start, end = marked(match)
    return None if is_template(match.string[start:end]) else (start, end)


RULES = (
    Rule(
        name="url_with_password",
        type="connection_string",
        when=always,
        anchors=("://",),
        pattern=r"://[^\s:/@\"'<>\[]{0,100}:(?P<secret>[^\s/\"'<>]{1,200})@(?=[\w\[])",
        check=_filled_in,
        finds=(
            "postgresql://ana:«s3cr3t»@db.example.org:5432/notes",
            "the cache is at redis://:«hunter2»@10.0.0.5:6379/0",
            "mongodb+srv://app:«p@ss:word»@cluster0.example.net/?retryWrites=true",
            "https://deploy:«kX9-pq»@git.example.org/notes.git",
            "postgres://admin:«password»@db/notes",
        ),
        leaves=(
            "postgresql://localhost:5432/notes",
            "postgresql://ana:${DB_PASSWORD}@db.example.org/notes",
            "postgresql://user:<password>@host/db",
            "http://example.org:8080/users/ana@example.org",
            "redis://:[redacted:connection_string]@10.0.0.5",
        ),
    ),
    Rule(
        name="command_line_password",
        type="connection_string",
        when=always,
        anchors=("-u ", "--user "),
        pattern=r"(?<![\w\-])(?:-u|--user)\s{1,2}(?![0-9]{1,6}:[0-9]{1,6}(?!\S))[\"']?[\w.@+\-]{1,64}:(?P<secret>[^\s\"'/:][^\s\"']{2,128})",
        check=_filled_in,
        finds=(
            "curl -u ana:«hunter2» https://example.org",
            "curl --user 'ana@example.org:«s3cr3t!»' https://example.org",
            "http GET example.org -u bot:«Tr0ub4dor»",
        ),
        leaves=(
            "docker run -u 1000:1000 image",
            "curl -u ana:$PASSWORD https://example.org",
            "sort -u names.txt",
            "rsync -u host:/var/data .",
        ),
    ),
)
