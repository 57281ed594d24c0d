import { describe, expect, test } from 'bun:test'
import type { NumberForm } from '../../src/core/provider-settings.ts'
import { FROM, TO, type World } from '../support/world.ts'
import { FaultCase } from './fault-table/case.ts'
import { pass } from './fault-table/passing-time.ts'

// Records and events may write numbers without `+`, or as Americans do.

const MINUTE_MS = 60_000
const FORMS: [form: NumberForm, written: string][] = [
  ['digits', '15555550199'],
  ['american', '(555)555-0199'],
]

describe.each(FORMS)('numbers written as %s (%s)', (form) => {
  test('a message whose answer was lost is found, and not sent again', async () => {
    await using one = await FaultCase.open()
    one.world.control.configure({ numberForms: [form] })
    one.world.control.fault({ route: 'sms', fault: { kind: 'accept-then-reset' } })
    const id = await one.world.send({ to: TO })
    expect(await one.ended(id, 5 * MINUTE_MS)).toMatchObject({ status: 'sent' })
    expect(await one.attempts(id)).toHaveLength(1)
    expect(one.world.control.messages()).toHaveLength(1)
  })

  test('STOP is recorded for the contact, who then gets nothing more', async () => {
    await using one = await FaultCase.open()
    const { world } = one
    world.control.configure({ numberForms: [form] })
    await world.call('PUT', '/v1/opt-outs/policy', { body: { policy: 'block' } })
    await world.control.injectSms({ from: TO, to: FROM, text: 'STOP' })
    expect(await inbound(world)).toEqual([[TO, FROM, 'STOP']])
    const { body } = await world.json<{ optOuts: object[] }>('GET', '/v1/opt-outs')
    expect(body.optOuts).toMatchObject([{ number: FROM, contact: TO, source: 'keyword' }])
    const id = await world.send({ to: TO })
    expect(await one.ended(id, MINUTE_MS)).toMatchObject({ status: 'failed' })
    expect(world.control.messages({ direction: 'Outbound' })).toEqual([])
  })

  test('a text that was missed is filled in with numbers that can be answered', async () => {
    await using one = await FaultCase.open()
    const { world } = one
    world.control.configure({ numberForms: [form] })
    await world.control.injectSms({ from: TO, to: FROM, text: 'missed', deliver: false })
    await pass(one, 20 * MINUTE_MS, async () => ((await inbound(world)).length > 0 ? true : null))
    expect(await inbound(world)).toEqual([[TO, FROM, 'missed']])
  })
})

const LONDON = '+442071838750'

test.each([
  ['a short code', '12345', FROM, '12345'],
  ['a name', 'ACME 24', FROM, 'ACME 24'],
  ['a number with its country', '49151123456', FROM, '+49151123456'],
  ['ten digits to an American number', '6505550123', FROM, '+16505550123'],
  ['ten digits to a number of another country', '6505550123', LONDON, '6505550123'],
])('%s (%p) is stored as far as it is certain', async (_, from, to, stored) => {
  await using one = await FaultCase.open()
  const { control } = one.world
  control.addNumber({ extensionId: control.extensions()[0]?.extensionId ?? '', phoneNumber: LONDON })
  await control.injectSms({ from, to, text: 'from elsewhere' })
  expect(await inbound(one.world)).toEqual([[stored, to, 'from elsewhere']])
})

async function inbound(world: World): Promise<unknown[]> {
  const { body } = await world.json<{ messages: { from: string; to: string; body: string }[] }>(
    'GET',
    '/v1/sms/messages?direction=inbound',
  )
  return body.messages.map(({ from, to, body: text }) => [from, to, text])
}
