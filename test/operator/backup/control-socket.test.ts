import { expect, test } from 'bun:test'
import { syncNow } from '../../../src/operator/backup/control-socket.ts'
import { controlSocketPath } from '../../../src/operator/backup/settings.ts'
import { failureOf, temporaryFolder } from '../../support/process.ts'

/** A control socket that gives these answers in turn, and then the last one; null never answers. */
function litestream(databasePath: string, answers: readonly (Answer | null)[]) {
  const asked: unknown[] = []
  const server = Bun.serve({
    unix: controlSocketPath(databasePath),
    async fetch(request) {
      asked.push(await request.json())
      const answer = answers[Math.min(asked.length, answers.length) - 1]
      if (answer === undefined || answer === null) return new Promise<Response>(() => undefined)
      return Response.json(answer, { status: 'error' in answer ? 500 : 200 })
    },
  })
  return { asked, [Symbol.asyncDispose]: () => server.stop(true) }
}

type Answer = { status: string } | { error: string }

test('a sync is asked again until Litestream says that everything is stored', async () => {
  using folder = temporaryFolder()
  const path = folder.file('sgw.db')
  await using server = litestream(path, [{ error: 'database not open' }, { status: 'synced' }])
  await syncNow(path, { timeoutMs: 20_000 })
  const request = { path, wait: true, timeout: 20 }
  expect(server.asked).toEqual([request, request])
})

test('without success in time the error has the last answer, and a final answer is not waited for', async () => {
  using folder = temporaryFolder()
  const path = folder.file('sgw.db')
  await using _ = litestream(path, [{ error: 'replica sync:\n  SlowDown' }])
  const late = await failureOf(syncNow(path, { timeoutMs: 300 }))
  expect(late).toMatchObject({ message: 'no success within 0.3 s: replica sync: SlowDown' })
  const final = await failureOf(syncNow(path, { timeoutMs: 20_000, isFinal: (answer) => answer.includes('SlowDown') }))
  expect(final).toMatchObject({ message: 'replica sync: SlowDown' })
})

test('a Litestream that is silent or not there fails in time, and one that has ended at once', async () => {
  using folder = temporaryFolder()
  const path = folder.file('sgw.db')
  expect(await failureOf(syncNow(path, { timeoutMs: 200 }))).toMatchObject({
    message: expect.stringContaining('Litestream does not answer'),
  })
  await using _ = litestream(path, [null])
  expect(await failureOf(syncNow(path, { timeoutMs: 200 }))).toMatchObject({ message: 'no success within 0.2 s' })
  const ended = new AbortController()
  const failure = failureOf(syncNow(path, { timeoutMs: 20_000, signal: ended.signal }))
  ended.abort()
  expect(await failure).toMatchObject({ message: 'Litestream has ended' })
})
