import { expect, test } from 'bun:test'
import { logMessages } from '../../src/server/development/message-lines.ts'
import { FROM, TO, createWorld, recordedLog, until } from '../support/world.ts'

test('in development each message leaves lines, without texts and full numbers', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ log })
  logMessages(world.gateway)
  await world.gateway.hub.ready()
  const sent = await world.send({ body: 'a secret text' })
  await world.untilStatus(sent)
  const failed = await world.send({ from: '+15555550999' })
  await world.untilStatus(failed, ['failed'])
  await world.control.injectSms({ from: TO, to: FROM, text: 'another secret' })
  const messages = (): object[] =>
    lines.map((line) => JSON.parse(line) as { msg: string }).filter(({ msg }) => msg.startsWith('message '))
  await until(() => messages().length === 5)
  expect(messages()).toMatchObject([
    { msg: 'message accepted', messageId: sent },
    { msg: 'message sent', messageId: sent },
    { msg: 'message accepted', messageId: failed },
    { msg: 'message failed', error: 'Phone number +1555***0999 is not registered in this provider account' },
    { msg: 'message received', from: '+1555***0199', to: '+1555***0100' },
  ])
  const text = lines.join('')
  for (const secret of [FROM, TO, '+15555550999', 'secret']) expect(text).not.toContain(secret)
})

test('no events are read for lines that the log level leaves out', async () => {
  await using quiet = await createWorld({ env: { LOG_LEVEL: 'warn' } })
  logMessages(quiet.gateway)
  expect(quiet.gateway.hub.hasListeners).toBe(false)
})
