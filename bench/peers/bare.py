"""The ceiling: a FastAPI route that reads the body and answers 200."""

import sys

import uvicorn
from fastapi import FastAPI, Request, Response

app = FastAPI()


@app.post("/{path:path}")
async def take(path: str, request: Request) -> Response:
    await request.body()
    return Response(status_code=200)


uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False, loop="uvloop", http="httptools")
