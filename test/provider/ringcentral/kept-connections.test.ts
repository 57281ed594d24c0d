import { expect, test } from 'bun:test'
import tls from 'node:tls'
import { fakeTimers } from '../../support/fake-timers.ts'
import { authority, key, valid } from './certificates.ts'
import { ACCESS_TOKEN, clientOf, failureOf, rawServer, valueOf } from './servers.ts'

const SMS = { from: '+16505550101', to: '+16505550123', text: 'Hello' }
const TIMEOUT_MS = 2000
const EXTENSION = 'HTTP/1.1 200 OK\r\ncontent-length: 30\r\n\r\n{"id":1,"account":{"id":"22"}}'

test('as many connections are kept as were needed at once, also with TLS', async () => {
  const secure = tls.createServer({ key, cert: valid })
  await using server = await rawServer((socket) => socket.on('data', () => socket.write(EXTENSION)), secure)
  const client = clientOf(`https://localhost:${server.port}`, { ca: authority })
  for (let round = 0; round < 5; round++) {
    const results = await Promise.all(Array.from({ length: 100 }, () => client.sendSms(ACCESS_TOKEN, SMS)))
    expect(results.filter(({ ok }) => ok)).toHaveLength(100)
  }
  expect(server.connections).toBe(100)
})

test('an SMS is not sent again when its pooled connection breaks', async () => {
  let requests = 0
  await using server = await rawServer((socket) => {
    socket.on('data', () => {
      requests += 1
      if (requests > 1) return socket.resetAndDestroy()
      return socket.write('HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n{"id":1}')
    })
  })
  const client = clientOf(server.url)
  expect(valueOf(await client.sendSms(ACCESS_TOKEN, SMS)).providerMessageId).toBe('1')
  expect(failureOf(await client.sendSms(ACCESS_TOKEN, SMS))).toMatchObject({ reason: 'ambiguous', code: 'ECONNRESET' })
  expect(requests).toBe(2)
  expect(server.connections).toBe(1)
})

test('a reading call is repeated once if its kept connection breaks', async () => {
  let requests = 0
  await using server = await rawServer((socket) =>
    socket.on('data', () => {
      requests += 1
      if (requests === 2 || requests > 3) return socket.resetAndDestroy()
      return socket.write(EXTENSION)
    }),
  )
  const client = clientOf(server.url)
  expect(valueOf(await client.getExtension(ACCESS_TOKEN)).extensionId).toBe('1')
  expect(valueOf(await client.getExtension(ACCESS_TOKEN)).extensionId).toBe('1')
  expect(failureOf(await client.getExtension(ACCESS_TOKEN))).toMatchObject({ reason: 'ambiguous', code: 'ECONNRESET' })
  expect({ requests, connections: server.connections }).toEqual({ requests: 5, connections: 3 })
})

test('a reading call is repeated on a new connection, even if all kept ones are broken', async () => {
  await using server = await rawServer((socket) => {
    const isOld = server.connections <= 2
    socket.once('data', () => {
      socket.write(EXTENSION)
      socket.on('data', () => (isOld ? socket.resetAndDestroy() : socket.write(EXTENSION)))
    })
  })
  const client = clientOf(server.url)
  await Promise.all([client.getExtension(ACCESS_TOKEN), client.getExtension(ACCESS_TOKEN)])
  expect(valueOf(await client.getExtension(ACCESS_TOKEN)).extensionId).toBe('1')
  expect(server.connections).toBe(3)
})

test('a deletion is not repeated', async () => {
  let requests = 0
  await using server = await rawServer((socket) =>
    socket.on('data', () => (++requests === 1 ? socket.write(EXTENSION) : socket.resetAndDestroy())),
  )
  const client = clientOf(server.url)
  await client.getExtension(ACCESS_TOKEN)
  expect(failureOf(await client.deleteSubscription(ACCESS_TOKEN, '1'))).toMatchObject({ reason: 'ambiguous' })
  expect(requests).toBe(2)
})

test('an SMS is sent although its kept connection ended while the event loop was blocked', async () => {
  const script = `let requests = 0
    require('net').createServer((socket) => socket.on('error', () => {}).on('data', () => (requests++,
      socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: ' + String(requests).length + '\\r\\n\\r\\n' + requests), setTimeout(() => socket.end(), 10))))
      .listen(0, '127.0.0.1', function () { console.log(this.address().port) })`
  const child = Bun.spawn([process.execPath, '-e', script], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  try {
    const { value } = await child.stdout.getReader().read()
    const client = clientOf(`http://127.0.0.1:${new TextDecoder().decode(value).trim()}`)
    // The answers contain no records, because only their end matters.
    expect(failureOf(await client.sendSms(ACCESS_TOKEN, SMS))).toMatchObject({ status: 200 })
    Bun.sleepSync(200)
    expect(failureOf(await client.sendSms(ACCESS_TOKEN, SMS))).toMatchObject({ status: 200 })
  } finally {
    child.kill()
  }
})

test('the timeout of one call does not end the next call on its connection', async () => {
  let requests = 0
  const asked = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  await using server = await rawServer((socket) =>
    socket.on('data', () => {
      if (++requests === 1) return socket.write(EXTENSION)
      asked.resolve()
      return void over.promise.then(() => socket.write(EXTENSION))
    }),
  )
  const timers = fakeTimers()
  const client = clientOf(server.url, { timeoutMs: TIMEOUT_MS })
  await client.getExtension(ACCESS_TOKEN)
  timers.advance(TIMEOUT_MS / 2)
  const next = client.getExtension(ACCESS_TOKEN)
  await asked.promise
  // The first call has timed out, but the next one has not.
  timers.advance(TIMEOUT_MS / 2)
  over.resolve()
  expect(valueOf(await next).extensionId).toBe('1')
  expect(server.connections).toBe(1)
})
