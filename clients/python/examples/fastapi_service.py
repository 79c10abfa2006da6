"""A service that refuses copies. POST /posts stores a text, or answers 409 with the posts that it is a copy of.

pip install fastapi uvicorn 'psycopg[binary]'; uvicorn fastapi_service:app. The PG* variables lead to the database.
"""

from collections.abc import Iterator
from contextlib import asynccontextmanager
from typing import Annotated

import psycopg
from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel, Field

THRESHOLD = 0.8
SCHEMA = f"""
CREATE EXTENSION IF NOT EXISTS neardup;
CREATE TABLE IF NOT EXISTS posts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  body text NOT NULL,
  CONSTRAINT posts_no_copies EXCLUDE USING lsh (with_threshold(to_minhash(body), {THRESHOLD}) WITH &&)
)"""
INSERT = "INSERT INTO posts (body) VALUES (%s) ON CONFLICT DO NOTHING RETURNING id"
COPIES = f"""
SELECT id, jaccard(to_minhash(body), to_minhash(%(body)s)) AS similarity FROM posts
WHERE jaccard(to_minhash(body), to_minhash(%(body)s)) >= {THRESHOLD} ORDER BY similarity DESC, id LIMIT 10"""


class Post(BaseModel):
    body: str = Field(min_length=1, max_length=1_000_000)


class Stored(BaseModel):
    id: int


class Copy(BaseModel):
    id: int
    similarity: float


def connection() -> Iterator[psycopg.Connection]:
    with psycopg.connect() as conn:
        yield conn


@asynccontextmanager
async def lifespan(app: FastAPI):
    with psycopg.connect() as conn:
        conn.execute(SCHEMA)
    yield


app = FastAPI(title="posts without copies", lifespan=lifespan)


@app.post("/posts", status_code=201, responses={409: {"model": list[Copy]}})
def create(post: Post, conn: Annotated[psycopg.Connection, Depends(connection)]) -> Stored:
    """The constraint decides, also between concurrent requests; then the copies are looked up for the answer."""
    if "\0" in post.body:
        raise HTTPException(422, "the body has a NUL character")
    row = conn.execute(INSERT, [post.body]).fetchone()
    if row is None:
        found = conn.execute(COPIES, {"body": post.body}).fetchall()
        raise HTTPException(409, [{"id": id_, "similarity": similarity} for id_, similarity in found])
    return Stored(id=row[0])
