import { expect, test } from 'bun:test'
import { BenchGateway } from '../../bench/gateway/bench-gateway.ts'
import { EXTENSIONS, NUMBERS_PER_EXTENSION, fromOf, toOf } from '../../bench/gateway/numbers.ts'
import { LeanProvider } from '../../bench/rivals/provider.ts'
import { inThisProcess } from '../../bench/rivals/provider-process.ts'
import { eventually } from '../../bench/torture/program.ts'

test('messages come from 1,000 numbers in turn, consecutive ones from different extensions, to distinct recipients', () => {
  const messages = Array.from({ length: 300_000 }, (_, n) => ({ from: fromOf(n), to: toOf(n) }))
  const round = messages.slice(0, EXTENSIONS * NUMBERS_PER_EXTENSION)
  expect(new Set(round.map(({ from }) => from)).size).toBe(1000)
  expect(new Set(messages.map(({ from }) => from)).size).toBe(1000)
  expect(new Set(messages.map(({ to }) => to)).size).toBe(300_000)
  const extensionOf = (from: string): string => from.slice(0, -2)
  for (let at = 0; at < 1000; at += EXTENSIONS)
    expect(new Set(round.slice(at, at + EXTENSIONS).map(({ from }) => extensionOf(from))).size).toBe(EXTENSIONS)
})

test('a bench gateway connects extensions with numbers of their own and sends a message', async () => {
  await using provider = new LeanProvider(0)
  await using gateway = await BenchGateway.open({
    extensions: 3,
    numbersPerExtension: 2,
    provider: inThisProcess(provider),
  })
  type Extension = { phoneNumbers: string[] }
  const { extensions } = await gateway.call<{ extensions: Extension[] }>('GET', '/v1/rc/extensions')
  const numbers = extensions.map(({ phoneNumbers }) => phoneNumbers.toSorted()).toSorted()
  expect(numbers).toEqual([
    ['+15555550000', '+15555550001'],
    ['+15555550100', '+15555550101'],
    ['+15555550200', '+15555550201'],
  ])
  const sms = { from: fromOf(2), to: toOf(2), body: 'Hello' }
  const { messageId } = await gateway.call<{ messageId: string }>('POST', '/v1/sms/send', sms)
  const sent = await eventually('The send', 2000, async () => {
    const status = await gateway.call<{ status: string; rcMessageId?: string }>('GET', `/v1/sms/status/${messageId}`)
    return status.status === 'sent' ? status : null
  })
  expect(sent.rcMessageId).toBe('3062991000000')
  expect(provider.calls).toBe(1)
  await gateway.drained()
})

test("the lean provider's answer has the fields of RingCentral's answer", async () => {
  await using provider = new LeanProvider(0)
  const response = await fetch(`${provider.url}/restapi/v1.0/account/~/extension/~/sms`, { method: 'POST', body: '{}' })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json;charset=utf-8')
  expect(response.headers.get('x-rate-limit-group')).toBe('medium')
  const text = await response.text()
  expect(text).toContain('"conversationId":1638233798595111162,')
  expect(JSON.parse(text)).toMatchObject({
    id: 3_062_991_000_000,
    uri: expect.stringMatching(/message-store\/3062991000000$/),
    direction: 'Outbound',
    messageStatus: 'Queued',
    type: 'SMS',
    creationTime: expect.stringMatching(/Z$/),
    conversation: { id: '1638233798595111162' },
  })
})
