import { expect, test } from 'bun:test'
import { erase } from '../../../src/operator/erase.ts'
import { purgeMessages } from '../../../src/messages/upkeep/purge-messages.ts'
import { expectError } from '../../support/expect-error.ts'
import { PNG, pngOf, storedBytes, uploaded } from '../../support/media.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { FROM, TO, type World, createWorld } from '../../support/world.ts'

const DAY_MS = 24 * 3_600_000
const GAVE_NONE = 'The provider did not give the attachment'

/** Sends a message with a picture and a contact. */
async function send(world: World, to = TO): Promise<{ messageId: string; mediaIds: string[] }> {
  const picture = await uploaded(world, PNG, { name: 'door.png' })
  const contact = await uploaded(world, 'BEGIN:VCARD', { type: 'text/vcard', name: 'me.vcf' })
  const mediaIds = [picture.mediaId, contact.mediaId]
  const answer = await world.json<{ messageId: string }>('POST', '/v1/sms/send', {
    body: { from: FROM, to, body: 'Look', mediaIds },
  })
  expect(answer.status).toBe(202)
  return { messageId: answer.body.messageId, mediaIds }
}

const bytesOf = (world: World, messageId: string, attachmentId = ''): Promise<Response> =>
  world.call('GET', `/v1/sms/${messageId}/attachments/${attachmentId}`)

test('a message with media is sent with its bytes, types and names', async () => {
  await using world = await createWorld()
  const { messageId } = await send(world)
  expect((await world.untilStatus(messageId))['status']).toBe('sent')
  const [sent, ...others] = world.control.messages({ direction: 'Outbound' })
  expect([sent?.text, others]).toEqual(['Look', []])
  expect(sent?.attachments.map(({ contentType, fileName, size }) => ({ contentType, fileName, size }))).toEqual([
    { contentType: 'image/png', fileName: 'door.png', size: PNG.length },
    { contentType: 'text/vcard', fileName: 'me.vcf', size: 11 },
  ])
})

test('the attachments of a sent message come from here while they are kept, and then from the provider', async () => {
  await using world = await createWorld()
  const { messageId, mediaIds } = await send(world)
  await world.untilStatus(messageId)
  const listed = await world.json('GET', `/v1/sms/${messageId}/attachments`)
  expect(listed.body).toEqual({
    attachments: [
      { attachmentId: mediaIds[0], contentType: 'image/png', size: PNG.length, fileName: 'door.png' },
      { attachmentId: mediaIds[1], contentType: 'text/vcard', size: 11, fileName: 'me.vcf' },
    ],
  })
  const picture = async (): Promise<unknown[]> => {
    const answer = await bytesOf(world, messageId, mediaIds[0])
    const {
      'content-type': type,
      'content-disposition': disposition,
      'x-content-type-options': sniff,
    } = Object.fromEntries(answer.headers)
    return [answer.status, type, disposition, sniff, Buffer.from(await answer.arrayBuffer()).toString('base64')]
  }
  const expected = [200, 'image/png', 'attachment', 'nosniff', PNG.toString('base64')]
  expect(await picture()).toEqual(expected)
  for (const mediaId of mediaIds) expect((await world.call('DELETE', `/v1/sms/media/${mediaId}`)).status).toBe(200)
  expect((await storedBytes(world)).pieces).toBe(0)
  expect(await picture()).toEqual(expected)
  expect(await (await bytesOf(world, messageId, mediaIds[1])).text()).toBe('BEGIN:VCARD')
  await expectError(await bytesOf(world, messageId, 'media_000000000000'), 404, 'Attachment not found')
  const other = await world.otherTenant()
  const foreign = { key: other.apiKey }
  await expectError(
    await world.call('GET', `/v1/sms/${messageId}/attachments/${mediaIds[0]}`, foreign),
    404,
    'Message not found',
  )
})

test('media that is gone here and at the provider is 502', async () => {
  await using world = await createWorld({ work: false })
  const { messageId, mediaIds } = await send(world)
  expect((await world.call('DELETE', `/v1/sms/${messageId}`)).status).toBe(200)
  expect((await world.call('DELETE', `/v1/sms/media/${mediaIds[0]}`)).status).toBe(200)
  await expectError(await bytesOf(world, messageId, mediaIds[0]), 502, GAVE_NONE)
})

test('lists, timeline and usage count media; a text has none', async () => {
  await using world = await createWorld()
  const { messageId } = await send(world)
  const text = await world.send({ body: 'x'.repeat(200), to: '+15555550198' })
  await world.untilStatus(messageId)
  await world.untilStatus(text)
  const { body } = await world.json<{ messages: { messageId: string }[] }>('GET', '/v1/sms/messages?include=delivery')
  const counts = Object.fromEntries(
    body.messages.map((message) => [message.messageId, 'attachments' in message ? message.attachments : null]),
  )
  expect(counts).toEqual({ [messageId]: 2, [text]: null })
  const entriesOf = async (id: string) =>
    (await world.json<{ entries: object[] }>('GET', `/v1/sms/${id}/timeline`)).body.entries
  expect((await entriesOf(messageId))[0]).toMatchObject({ type: 'queued', attachments: 2 })
  expect((await entriesOf(text))[0]).not.toHaveProperty('attachments')
  const usage = await world.json<{ days: object[] }>('GET', '/v1/usage')
  expect(usage.body.days).toMatchObject([{ sent: 2, segments: 3, media: 1 }])
})

test('the limit of a file, and who can send media, are shown', async () => {
  await using world = await createWorld()
  expect((await world.json('GET', '/v1/me')).body['mediaLimit']).toBe(1_500_000)
  const health = await world.json<{ extensions: { numbers: object[] }[] }>('GET', '/v1/rc/extensions/health')
  expect(health.body.extensions[0]?.numbers[0]).toMatchObject({ phoneNumber: FROM, canSendMedia: true })
  await using off = await createWorld({ env: { MEDIA_LIMIT: '0' } })
  expect((await off.json('GET', '/v1/me')).body['mediaLimit']).toBe(0)
})

test('erasing a person deletes the media that only their messages carried, and overwrites its bytes', async () => {
  await using world = await createWorld()
  const secret = Buffer.concat([PNG, Buffer.from('SECRET-OF-THE-PICTURE')])
  const picture = await uploaded(world, secret)
  const both = await uploaded(world, pngOf(100))
  for (const [to, mediaIds] of [
    [TO, [picture.mediaId, both.mediaId]],
    ['+15555550198', [both.mediaId]],
  ] as const) {
    const answer = await world.json<{ messageId: string }>('POST', '/v1/sms/send', {
      body: { from: FROM, to, mediaIds },
    })
    await world.untilStatus(answer.body.messageId)
  }
  await erase(world.gateway, { phone: TO })
  expect((await world.call('GET', `/v1/sms/media/${picture.mediaId}`)).status).toBe(404)
  expect((await world.call('GET', `/v1/sms/media/${both.mediaId}`)).status).toBe(200)
  await world.gateway.database.gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  const file = Buffer.from(await Bun.file(`${world.folder}/sgw.db`).arrayBuffer())
  expect(file.includes('SECRET-OF-THE-PICTURE')).toBe(false)
})

test('retention deletes what is known of media with the message', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, env: { MESSAGE_RETENTION_DAYS: '2' } })
  const { messageId } = await send(world)
  await world.untilStatus(messageId)
  clock.advance(2 * DAY_MS + 1)
  await purgeMessages(world.gateway)
  const { rows } = await world.gateway.database.gate.execute('SELECT count(*) AS n FROM media_uses')
  expect(rows[0]?.['n']).toBe(0)
})
