import { connect } from 'node:net'
import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { PNG, type UploadedMedia, media, pngOf, storedBytes, upload, uploaded } from '../../support/media.ts'
import { exchange, parseAnswers } from '../../support/raw-http.ts'
import { type World, type WorldOptions, createWorld, until } from '../../support/world.ts'

const NOTHING = { media: 0, pieces: 0, bytes: 0 }
const MAX_BYTES = 1_500_000

const quiet = (options: WorldOptions = {}): Promise<World> => createWorld({ connect: false, work: false, ...options })

const head = (world: World, lines: readonly string[]): string =>
  [
    'POST /v1/sms/media HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${world.key}`,
    'Content-Type: image/png',
    ...lines,
    '',
    '',
  ].join('\r\n')

const chunks = (...parts: Uint8Array[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    pull(controller) {
      const next = parts.shift()
      if (next === undefined) controller.close()
      else controller.enqueue(next)
    },
  })

test('a file is stored with its type and name, and its id shows it', async () => {
  const clock = manualClock()
  await using world = await quiet({ clock })
  const answer = await upload(world, PNG, { name: 'door & bell.png', type: 'Image/PNG; charset=binary' })
  const stored = (await answer.json()) as UploadedMedia
  expect([answer.status, stored]).toEqual([
    201,
    {
      mediaId: expect.stringMatching(/^media_[0-9a-f]{12}$/) as unknown as string,
      contentType: 'image/png',
      size: PNG.length,
      fileName: 'door & bell.png',
      expiresAt: new Date(clock.now() + 24 * 3_600_000).toISOString(),
    },
  ])
  const shown = await media(world, stored.mediaId)
  expect([shown.status, await shown.json()]).toEqual([200, stored])
})

test('the largest file may have 1,500,000 bytes, and is stored in pieces, with and without a Content-Length', async () => {
  await using world = await quiet()
  const largest = pngOf(MAX_BYTES)
  expect((await uploaded(world, largest)).size).toBe(MAX_BYTES)
  expect(await storedBytes(world)).toEqual({ media: 1, pieces: 23, bytes: MAX_BYTES })
  const second = pngOf(MAX_BYTES, 1)
  expect((await uploaded(world, chunks(second.subarray(0, 700_000), second.subarray(700_000)))).size).toBe(MAX_BYTES)
  const { rows } = await world.gateway.database.gate.execute(
    "SELECT group_concat(hex(bytes), '') AS hex FROM (SELECT bytes FROM media_pieces GROUP BY media_id, position)",
  )
  expect(String(rows[0]?.['hex']).length).toBe(4 * MAX_BYTES)
})

test('a larger file is refused, whatever its Content-Length says, and nothing of it is kept', async () => {
  await using world = await quiet()
  await expectError(await upload(world, pngOf(MAX_BYTES + 1)), 413, 'Payload too large')
  await expectError(await upload(world, chunks(pngOf(MAX_BYTES), Buffer.alloc(1))), 413, 'Payload too large')
  const huge = await exchange(world.url, head(world, ['Content-Length: 99999999999']))
  expect(parseAnswers(huge)[0]).toMatchObject({ status: 413, body: '{"error":"Payload too large"}' })
  expect(await storedBytes(world)).toEqual(NOTHING)
})

test('an empty file is refused, however a client says that it is empty', async () => {
  await using world = await quiet()
  await expectError(await upload(world, ''), 400, 'Media is empty')
  await expectError(await upload(world, chunks()), 400, 'Media is empty')
  const absent = await exchange(world.url, head(world, ['Connection: close']))
  expect(parseAnswers(absent)[0]).toMatchObject({ status: 400, body: '{"error":"Media is empty"}' })
})

test('other types are refused, and images whose first bytes are something else', async () => {
  await using world = await quiet()
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
  for (const type of ['image/svg+xml', 'text/html', 'application/zip', 'application/json', 'image', '', 'image/png,x'])
    await expectError(await upload(world, svg, { type }), 415, 'Unsupported media type')
  const lies = [
    '<!doctype html><script>alert(1)</script>',
    svg,
    'GIF89',
    '\u0089PNG',
    'II*',
    'RIFF0000WAVE',
    'PK\u0003\u0004',
  ]
  for (const type of ['image/jpeg', 'image/png', 'image/gif', 'image/bmp', 'image/tiff', 'image/webp'])
    for (const lie of lies) await expectError(await upload(world, lie, { type }), 415, 'Unsupported media type')
  expect(await storedBytes(world)).toEqual(NOTHING)
})

test('each type is accepted whose bytes fit', async () => {
  await using world = await quiet()
  const images: Record<string, Buffer> = {
    'image/jpeg': Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
    'image/png': PNG,
    'image/gif': Buffer.from('GIF89a...'),
    'image/bmp': Buffer.from('BM......'),
    'image/tiff': Buffer.from('II*\0....'),
    'image/webp': Buffer.from('RIFF\x10\0\0\0WEBPVP8 '),
  }
  for (const [type, bytes] of Object.entries(images))
    expect((await uploaded(world, bytes, { type })).contentType).toBe(type)
  for (const type of [
    'video/mp4',
    'video/3gpp',
    'video/mpeg',
    'video/webm',
    'audio/mpeg',
    'audio/mp4',
    'audio/ogg',
    'audio/wav',
    'audio/amr',
    'text/vcard',
    'text/calendar',
    'text/plain',
    'application/pdf',
  ])
    expect((await uploaded(world, 'anything', { type })).contentType).toBe(type)
})

test('a file name with a path, a line break or another control character is refused', async () => {
  await using world = await quiet()
  const names = [
    '../../etc/passwd',
    'a/b.png',
    'a\\b.png',
    'a\r\nX-Header: 1',
    'a\nb',
    'a\0b',
    'a\tb',
    'a\u2028b',
    'x'.repeat(256),
  ]
  for (const name of names) await expectError(await upload(world, PNG, { name }), 400, 'Invalid fileName')
  expect(await storedBytes(world)).toEqual(NOTHING)
  for (const name of ['"; filename="x.exe', 'Tür ☃ 🎉.png', '..', 'x'.repeat(255)])
    expect((await uploaded(world, PNG, { name })).fileName).toBe(name)
  expect((await uploaded(world, PNG, { name: '' })).fileName).toBeNull()
})

test('the same bytes, type and name have one id and are kept longer; anything else is a file of its own', async () => {
  const clock = manualClock()
  await using world = await quiet({ clock })
  const first = await uploaded(world, PNG, { name: 'a.png' })
  clock.advance(3_600_000)
  const again = await upload(world, PNG, { name: 'a.png' })
  expect([again.status, await again.json()]).toEqual([
    200,
    { ...first, expiresAt: new Date(clock.now() + 24 * 3_600_000).toISOString() },
  ])
  const other = await world.otherTenant()
  const others = [
    await uploaded(world, PNG),
    await uploaded(world, PNG, { name: 'b.png' }),
    await uploaded(world, PNG, { name: 'a.png', type: 'text/plain' }),
    await uploaded(world, pngOf(100), { name: 'a.png' }),
    await uploaded(world, PNG, { name: 'a.png', key: other.apiKey }),
  ]
  expect(new Set([first, ...others].map(({ mediaId }) => mediaId)).size).toBe(6)
})

test('the same file twenty times at once is stored once', async () => {
  await using world = await quiet()
  const picture = pngOf(200_000)
  const answers = await Promise.all(Array.from({ length: 20 }, () => upload(world, picture)))
  const ids = await Promise.all(answers.map(async (answer) => ((await answer.json()) as UploadedMedia).mediaId))
  expect(new Set(ids).size).toBe(1)
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(await storedBytes(world)).toEqual({ media: 1, pieces: 4, bytes: 200_000 })
})

test('a body that trickles is answered 408, one that is slow but fast enough is not', async () => {
  const clock = manualClock()
  await using world = await quiet({ clock })
  const trickle = trickling(world, clock, 1000)
  expect(await trickle.answer).toMatchObject({ status: 408, body: '{"error":"Request timeout"}' })
  expect(trickle.sent()).toBeLessThanOrEqual(11_000)
  expect(await storedBytes(world)).toEqual(NOTHING)
  const slow = trickling(world, clock, 12_000)
  expect((await slow.answer)?.status).toBe(201)
})

/** Sends a file of 250,000 bytes, so many in each second of the clock. */
function trickling(world: World, clock: ManualClock, bytesPerSecond: number) {
  const body = pngOf(250_000, bytesPerSecond)
  const { hostname, port } = new URL(world.url)
  let sent = 0
  let text = ''
  const socket = connect(Number(port), hostname)
  socket.write(head(world, [`Content-Length: ${body.length}`]))
  socket.on('error', () => undefined)
  socket.on('data', (bytes) => void (text += bytes.toString('latin1')))
  const answer = until(async () => {
    if (text.includes('}')) return parseAnswers(text)[0] ?? null
    if (sent < body.length) socket.write(body.subarray(sent, (sent += bytesPerSecond)))
    await Bun.sleep(5)
    clock.advance(1000)
    return null
  }).finally(() => socket.destroy())
  return { answer, sent: () => sent }
}

test('a client that goes away leaves nothing, and its slot is free again', async () => {
  await using world = await quiet()
  const { hostname, port } = new URL(world.url)
  for (let client = 0; client < 20; client++) {
    const socket = connect(Number(port), hostname, () => {
      socket.write(head(world, ['Content-Length: 1000000']))
      socket.write(pngOf(200_000))
    })
    socket.on('error', () => undefined)
    await Bun.sleep(5)
    socket.destroy()
  }
  expect((await upload(world, PNG)).status).toBe(201)
  expect(await storedBytes(world)).toEqual({ media: 1, pieces: 1, bytes: PNG.length })
})

test('64 slow uploads of a tenant leave room for another one, and the next is asked to wait', async () => {
  await using world = await quiet()
  const other = await world.otherTenant()
  const { hostname, port } = new URL(world.url)
  const sockets = Array.from({ length: 64 }, () => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    socket.write(head(world, ['Content-Length: 1000']))
    socket.write(PNG)
    return socket
  })
  await until(() => {
    const slot = world.gateway.media.slots.acquire(world.tenantId)
    slot?.release()
    return slot === null
  })
  const full = await upload(world, PNG)
  expect(full.headers.get('retry-after')).toBe('5')
  await expectError(full, 429, 'Too many requests')
  expect((await upload(world, PNG, { key: other.apiKey })).status).toBe(201)
  for (const socket of sockets) socket.destroy()
  await until(async () => (await upload(world, PNG)).ok)
})

test('uploads of a kill leave rows that nobody sees, and nothing after an hour', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  await world.gateway.database.gate.batch([
    {
      sql: `INSERT INTO media (id, tenant_id, content_type, file_name, size, uploaded_at) VALUES ('media_00000000000f', ?1, 'image/png', '', 65536, ?2)`,
      args: [world.tenantId, clock.now()],
    },
    `INSERT INTO media_pieces (media_id, position, bytes) VALUES ('media_00000000000f', 0, zeroblob(65536))`,
  ])
  await expectError(await media(world, 'media_00000000000f'), 404, 'Media not found')
  await expectError(await world.call('DELETE', '/v1/sms/media/media_00000000000f'), 404, 'Media not found')
  await until(async () => {
    clock.advance(60_000)
    return (await storedBytes(world)).media === 0 ? true : null
  })
  expect(await storedBytes(world)).toEqual(NOTHING)
})

test('only the tenant sees, and deletes, its media', async () => {
  await using world = await quiet()
  const other = await world.otherTenant()
  const { mediaId } = await uploaded(world, PNG)
  for (const id of [mediaId, 'media_000000000000', 'media_x', '%00', '..%2F..', 'x'.repeat(500)]) {
    await expectError(await media(world, id, { key: other.apiKey }), 404, 'Media not found')
    await expectError(await world.call('DELETE', `/v1/sms/media/${id}`, { key: other.apiKey }), 404, 'Media not found')
  }
  const deleted = await world.call('DELETE', `/v1/sms/media/${mediaId}`)
  expect([deleted.status, await deleted.json()]).toEqual([200, { ok: true }])
  await expectError(await media(world, mediaId), 404, 'Media not found')
  expect(await storedBytes(world)).toEqual(NOTHING)
})

test('media is gone 24 hours after its upload', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const { mediaId } = await uploaded(world, PNG)
  clock.advance(24 * 3_600_000 - 1)
  expect((await media(world, mediaId)).status).toBe(200)
  clock.advance(1)
  await expectError(await media(world, mediaId), 404, 'Media not found')
  await until(async () => {
    clock.advance(60_000)
    return (await storedBytes(world)).media === 0 ? true : null
  })
})

test('all media together is bounded, and a limit of 0 turns uploads off', async () => {
  await using world = await quiet({ env: { MEDIA_LIMIT: '100KB' } })
  await uploaded(world, pngOf(60_000))
  await expectError(await upload(world, pngOf(40_001)), 409, 'The gateway has reached its limit of media')
  expect((await upload(world, pngOf(40_000))).status).toBe(201)
  await using off = await quiet({ env: { MEDIA_LIMIT: '0' } })
  await expectError(await upload(off, PNG), 409, 'The gateway has reached its limit of media')
})

test("a tenant's media is bounded, and another tenant has its own", async () => {
  await using world = await quiet()
  await world.gateway.database.gate.execute({
    sql: `INSERT INTO media (id, tenant_id, content_type, file_name, size, sha256, uploaded_at) VALUES ('media_000000000001', ?1, 'image/png', '', 199999000, 'x', ?2)`,
    args: [world.tenantId, Date.now()],
  })
  await expectError(await upload(world, pngOf(1001)), 409, 'Tenant has reached its limit of 200 MB of media')
  expect((await upload(world, pngOf(1000))).status).toBe(201)
  const other = await world.otherTenant()
  expect((await upload(world, pngOf(1001), { key: other.apiKey })).status).toBe(201)
})

test('a file on its way needs a key, and one without is refused before it is read', async () => {
  await using world = await quiet()
  const { hostname, port } = new URL(world.url)
  const answer = await fetch(`http://${hostname}:${port}/v1/sms/media`, { method: 'POST', body: pngOf(MAX_BYTES) })
  await expectError(answer, 401, 'Missing or invalid API key')
})
