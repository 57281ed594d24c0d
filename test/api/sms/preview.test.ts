import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { createWorld } from '../../support/world.ts'

const LENGTH = 'body must be 1-1600 characters'

test('a text gets a preview, and nothing is stored', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const preview = (body: string) => world.json('POST', '/v1/sms/preview', { body: { body } })
  expect(await preview('Hello [you]')).toEqual({
    status: 200,
    body: { encoding: 'GSM-7', segments: 1, characters: 13, nonGsmCharacters: [] },
  })
  expect(await preview('😀'.repeat(36))).toEqual({
    status: 200,
    body: { encoding: 'UCS-2', segments: 2, characters: 72, nonGsmCharacters: ['😀'] },
  })
  expect((await preview('a'.repeat(1600))).body).toMatchObject({ segments: 11 })
  expect((await world.json('GET', '/v1/sms/messages')).body).toMatchObject({ total: 0 })
})

test('a text that could not be sent has no preview', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const bodies = [{}, { body: null }, { body: 1 }, { body: ['a'] }, { body: '' }, { body: 'a'.repeat(1601) }]
  const hostile = [{ body: 'a\u{0}b' }, { body: '\ud800' }, 'null', '[]', '"text"', undefined]
  for (const body of [...bodies, ...hostile])
    await expectError(await world.call('POST', '/v1/sms/preview', { body }), 400, LENGTH)
  await expectError(await world.call('POST', '/v1/sms/preview', { body: '{' }), 400, 'Invalid JSON')
})
