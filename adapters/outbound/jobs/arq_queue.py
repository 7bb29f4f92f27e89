"""arq's queue on Redis, or on an embedded one in this process. Nothing durable lives in it."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from arq.connections import ArqRedis, RedisSettings
from redis.asyncio import BlockingConnectionPool, ConnectionPool
from redis.asyncio.client import Pipeline
from redis.exceptions import RedisError

from domain.refusals import Unavailable

QUEUE = "switchboard:jobs"
ALWAYS_DUE = datetime(1970, 1, 2, tzinfo=UTC)
"""All jobs are due at once, also for a worker whose clock is behind."""
KEPT = timedelta(days=1)
AWAY = "the job queue is away for the moment; try again shortly"
CHECK_KEY = "switchboard:check"


def dumps(value: Any) -> bytes:
    return json.dumps(value, default=repr).encode()


def loads(content: bytes) -> Any:
    return json.loads(content)


def connect(redis_url: str) -> ArqRedis:
    """A client of the Redis at `redis_url`, or of a queue inside this process when it is empty."""
    kind: type[ArqRedis] = ArqRedis
    pool: ConnectionPool
    if redis_url:
        RedisSettings.from_dsn(redis_url)  # a wrong address is refused here, not at the first job
        pool = BlockingConnectionPool.from_url(
            redis_url,
            max_connections=20,
            socket_connect_timeout=3,
            socket_timeout=10,
            health_check_interval=15,
        )
    else:
        from fakeredis import FakeServer
        from fakeredis.aioredis import FakeAsyncRedisConnection

        kind = _EmbeddedRedis
        pool = ConnectionPool(
            connection_class=cast(Any, FakeAsyncRedisConnection),
            server=FakeServer(server_type="redis", version=(7,)),
            host="embedded",
            port=1,
            db=0,
        )
    redis = kind(connection_pool=pool, default_queue_name=QUEUE, job_serializer=dumps, job_deserializer=loads)
    if not redis_url:
        redis.set_response_callback("ECHO", lambda *_, **__: {})
    return redis


class _Pipeline(Pipeline):
    def info(self, *_: Any, **__: Any) -> Any:
        return self.echo("")


class _EmbeddedRedis(ArqRedis):
    """Answers INFO, which arq logs at its start and the embedded server lacks, with an empty mapping."""

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:
        return _Pipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)


class ArqQueue:
    def __init__(self, redis: ArqRedis) -> None:
        self.redis = redis

    async def enqueue(self, kind: str, subject: int = 0, *, alone: bool = True) -> bool:
        job_id = f"{kind}:{subject}" if alone else None
        try:
            job = await self.redis.enqueue_job(
                kind, subject, _job_id=job_id, _queue_name=QUEUE, _defer_until=ALWAYS_DUE, _expires=KEPT
            )
        except (RedisError, OSError) as error:
            raise Unavailable(AWAY) from error
        return job is not None

    async def ping(self) -> None:
        """Raises `Unavailable` where the queue takes no writes: a full one, or a replica, answers all the same."""
        try:
            await self.redis.set(CHECK_KEY, b"", ex=60)
        except (RedisError, OSError) as error:
            raise Unavailable(AWAY) from error

    async def close(self) -> None:
        await self.redis.aclose(close_connection_pool=True)
