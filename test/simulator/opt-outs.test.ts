import { expect, test } from 'bun:test'
import type { Message } from '../../src/simulator/messages.ts'
import { ALICE, CUSTOMER, SELF, type SimulatorHarness, smsBody, startHarness } from './harness.ts'

const SECOND = '+16505550103'
const OTHER = '+16505550124'
const SENT = { messageStatus: 'Sent' }
const REFUSED = { messageStatus: 'SendingFailed', deliveryErrorCode: 'SMS-RC-413' }

interface Scene extends SimulatorHarness {
  /** The texts that reached a phone. */
  rung: (string | null)[]
  /** Sends an SMS, which the platform must accept, and returns its record a second later. */
  record(sms?: { text?: string; to?: string; from?: string }): Promise<Record<string, unknown>>
  answer(text: string | null, to?: string | string[], from?: string): Promise<unknown>
}

async function startScene(): Promise<Scene> {
  const harness = await startHarness()
  harness.control.addNumber({ extensionId: harness.alice, phoneNumber: SECOND, features: ['SmsSender'] })
  const { access_token } = await harness.login()
  const rung: Scene['rung'] = []
  harness.simulator.onPhone(({ text }: Message) => rung.push(text))
  return {
    ...harness,
    rung,
    async record({ text = 'Hello', to = CUSTOMER, from = ALICE } = {}) {
      const sent = await harness.api(access_token, 'POST', `${SELF}/sms`, smsBody(text, to, from))
      expect([sent.status, sent.body['messageStatus']]).toEqual([200, 'Queued'])
      harness.clock.advance(1000)
      return (await harness.api(access_token, 'GET', `${SELF}/message-store/${sent.body.id}`)).body
    },
    answer: (text, to = ALICE, from = CUSTOMER) => harness.control.injectSms({ from, to, text }),
  }
}

test('after STOP messages are accepted and not delivered, until START', async () => {
  await using scene = await startScene()
  expect(await scene.record({ text: 'before' })).toMatchObject(SENT)
  await scene.answer(' Stop\n')
  for (const _ of [1, 2]) expect(await scene.record({ text: 'blocked' })).toMatchObject(REFUSED)
  await scene.answer('START')
  expect(await scene.record({ text: 'after' })).toMatchObject(SENT)
  expect(scene.rung).toEqual(['before', 'after'])
})

test('the keywords are those that RingCentral documents, and no others', async () => {
  await using scene = await startScene()
  const words = { STOP: 'START', unsubscribe: 'subscribe', Quit: 'Resume', CANCEL: 'CONTINUE', END: 'UNSTOP' }
  for (const [out, back] of Object.entries(words)) {
    await scene.answer(out)
    expect([out, await scene.record()]).toMatchObject([out, REFUSED])
    await scene.answer(back)
    expect([back, await scene.record()]).toMatchObject([back, SENT])
  }
  for (const word of ['Stop.', 'STOPALL', 'OPT OUT', 'REVOKE', 'ARRET']) await scene.answer(word)
  expect(await scene.record()).toMatchObject(SENT)
})

test('a STOP concerns one pair of numbers, also in a group message and if no webhook is told', async () => {
  await using scene = await startScene()
  await scene.answer('STOP', [ALICE, OTHER])
  await scene.control.injectSms({ from: OTHER, to: SECOND, text: 'CANCEL', deliver: false })
  expect(await scene.record()).toMatchObject(REFUSED)
  expect(await scene.record({ from: SECOND })).toMatchObject(SENT)
  expect(await scene.record({ to: OTHER })).toMatchObject(SENT)
  expect(await scene.record({ to: OTHER, from: SECOND })).toMatchObject(REFUSED)
})

test('other texts, and a START before a STOP, block nothing', async () => {
  await using scene = await startScene()
  for (const text of ['Please stop', 'YES', '', null, 'START']) await scene.answer(text)
  expect(await scene.record()).toMatchObject(SENT)
})

test('an outcome that a test has planned comes before a STOP', async () => {
  await using scene = await startScene()
  await scene.answer('STOP')
  scene.control.planNextSms({ messageStatus: 'DeliveryFailed', deliveryErrorCode: 'SMS-CAR-430' })
  expect(await scene.record()).toMatchObject({ messageStatus: 'DeliveryFailed', deliveryErrorCode: 'SMS-CAR-430' })
  expect(await scene.record()).toMatchObject(REFUSED)
})
