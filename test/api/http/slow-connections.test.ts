import { expect, test } from 'bun:test'
import { createHttpServer } from '../../../src/server/app.ts'
import { connect } from 'node:net'
import { createWorld, until } from '../../support/world.ts'

test('a connection may be silent for longer only while its endpoint waits for the provider, not before or afterwards', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const app = createHttpServer(world.gateway).listen({ port: 0, hostname: '127.0.0.1' })
  const { server } = app
  if (server === null) throw new Error('It does not listen')
  const seconds: number[] = []
  server.timeout = (_request, value) => void seconds.push(value)
  await (await fetch(new URL('/v1/rc/callback?code=x&state=y', server.url))).text()
  expect(seconds).toEqual([240, 30])
  await (await fetch(new URL('/health', server.url))).text()
  expect(seconds).toHaveLength(2)
  const socket = connect(server.port ?? 0, '127.0.0.1')
  socket.write(
    `POST /v1/rc/disconnect HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.key}\r\nContent-Length: 10\r\n\r\nhalf`,
  )
  await until(() => server.pendingRequests > 0)
  await world.call('GET', '/health')
  expect(seconds).toHaveLength(2)
  socket.write(' of it')
  await until(() => seconds.length === 4)
  socket.destroy()
  await server.stop(true)
})

test('a request that waits for its turn to read is not cut off after 30 s, however many others have their turn before', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const app = createHttpServer(world.gateway).listen({ port: 0, hostname: '127.0.0.1' })
  const { server } = app
  if (server === null) throw new Error('It does not listen')
  const seconds: number[] = []
  server.timeout = (_request, value) => void seconds.push(value)
  const headers = { authorization: `Bearer ${world.key}` }
  const paths = [
    '/v1/overview',
    '/v1/usage',
    '/v1/opt-outs',
    '/v1/events',
    '/v1/conversations',
    '/v1/sms/messages',
    '/v1/sms/msg_0123456789ab/timeline',
    '/v1/webhook-deliveries',
    '/v1/rc/extensions/health',
  ]
  for (const path of paths) await (await fetch(new URL(path, server.url), { headers })).text()
  expect(seconds).toEqual(paths.flatMap(() => [240, 30]))
  await server.stop(true)
})
