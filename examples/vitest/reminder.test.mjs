import { expect, test } from 'vitest'
import { useGateway } from './gateway.mjs'

const gateway = useGateway()

async function send(to, body, more = {}) {
  const { status, answer } = await gateway.api('POST', '/v1/sms/send', { from: gateway.number, to, body, ...more })
  expect(status).toBe(202)
  return answer.messageId
}

const statusOf = async (message) => (await gateway.api('GET', `/v1/sms/status/${message}`)).answer.status

test('a patient confirms', async () => {
  const patient = '+15555550171'
  await send(patient, 'Your appointment is tomorrow. Answer C to confirm.')
  expect(await gateway.waitFor(() => gateway.inbox(patient))).toEqual([
    'Your appointment is tomorrow. Answer C to confirm.',
  ])
  await gateway.reply(patient, 'C')
  const { answer } = await gateway.api('GET', `/v1/sms/messages?direction=inbound&from=%2B${patient.slice(1)}`)
  expect(answer.messages.map(({ body }) => body)).toEqual(['C'])
})

test('a refused text fails', async () => {
  await gateway.control('simulate', { situation: 'fail', times: 1 })
  const message = await send('+15555550172', 'This one is refused.')
  await gateway.waitFor(async () => (await statusOf(message)) === 'failed')
  expect(await gateway.inbox('+15555550172')).toEqual([])
})

test('a reminder goes out at its time', async () => {
  const patient = '+15555550173'
  const tomorrow = new Date(Date.now() + 86_400_000)
  const message = await send(patient, 'See you in an hour.', { sendAt: tomorrow })
  expect(await statusOf(message)).toBe('queued')
  gateway.advance('25h')
  await gateway.waitFor(() => gateway.inbox(patient))
})
