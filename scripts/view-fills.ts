import { MESSAGE_FAILURES, unknownNumber } from '../src/core/message-failure.ts'
import { addFailed } from '../test/support/failed-texts.ts'
import { startReceiver } from '../test/support/receiver.ts'
import { FROM, TO, type World, until } from '../test/support/world.ts'

const PICTURE = 'docs/pictures/phone-narrow.png'

/** Texts that failed for three reasons, of which some are two hours old. */
export async function failedTexts(world: World): Promise<void> {
  const unknown = unknownNumber('+15035550199')
  await addFailed(world, 39, { ...unknown, from: '+15035550199' })
  await addFailed(world, 2, { ...unknown, from: '+15035550199', agoMs: 7_200_000 })
  await addFailed(world, 3, { ...MESSAGE_FAILURES.revoked, from: FROM })
  await addFailed(world, 2, { ...MESSAGE_FAILURES.expired, from: FROM, agoMs: 3_600_000 })
}

export async function neverArrived(world: World): Promise<void> {
  const receiver = startReceiver(500)
  await world.json('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
  for (const text of ['C', 'YES', 'Where do I park?', 'Thanks!'])
    await world.control.injectSms({ from: TO, to: FROM, text })
  await receiver.received(4)
  receiver.answer = () => new Response('ok')
  await world.control.injectSms({ from: TO, to: FROM, text: 'Can I come half an hour later?' })
  await receiver.received(5)
}

/** Conversations that wait for an answer: one with a picture, and some whose newest text waits or failed. */
export async function whoWaits(world: World): Promise<void> {
  const data = Buffer.from(await Bun.file(PICTURE).arrayBuffer()).toString('base64')
  await world.untilStatus(await world.send({ to: '+15035551142', body: 'We moved your appointment to Friday, 08:40.' }))
  await world.untilStatus(await world.send({ to: '+15035551188', from: '+15555550777', body: 'Reminder: tomorrow' }))
  await world.send({
    to: '+15035551163',
    body: 'See you on Monday!',
    sendAt: new Date(Date.now() + 86_400_000).toISOString(),
  })
  await world.control.injectSms({ from: '72345', to: FROM, text: 'Your code is 4711' })
  await world.control.injectSms({
    from: '+15415550163',
    to: FROM,
    text: 'Where do I park? The bus is late and I may need ten minutes more',
  })
  await world.untilStatus(
    await world.send({ body: 'Reminder: Dr. Osei, Tuesday 24 Nov at 15:00. Reply C to confirm.' }),
  )
  const attachments = [{ contentType: 'image/png', fileName: 'rash.png', data }]
  await world.control.injectSms({ from: TO, to: FROM, text: 'Is this rash normal?', attachments })
  await until(async () => (await world.json<{ total: number }>('GET', '/v1/sms/messages')).body.total === 7)
}
