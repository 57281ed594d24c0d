import { expect, setDefaultTimeout, test } from 'bun:test'
import { unknownNumber } from '../../src/core/message-failure.ts'
import { sgwIn } from '../support/cli.ts'
import { openOperatorSocket } from '../support/operator.ts'
import { FROM, createWorld } from '../support/world.ts'

setDefaultTimeout(60_000)

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')
const ELSEWHERE = '+15555550777'

test('a message from a number that no connected extension has is offered to be sent again from another number alone', async () => {
  await using world = await createWorld()
  const operator = openOperatorSocket(world)
  const { tenantId } = world
  const run = async (...words: string[]) => {
    const { code, stdout, stderr } = await sgwIn(world.folder, words)
    return { code, text: flat(`${stdout}${stderr}`) }
  }
  const messageId = await world.send({ from: ELSEWHERE })
  expect(await world.untilStatus(messageId, ['failed'])).toMatchObject({ error: unknownNumber(ELSEWHERE).text })
  const status = (await run('status')).text
  const resend = `sgw messages resend --failed-since 24h --failure unknown_number --from NUMBER --tenant ${tenantId}`
  expect(status).toContain('None can be sent again as it is. List them:')
  expect(status).toContain(
    `No connected extension of the tenant has this number (sgw extensions list shows those that it has). To send from another one: ${resend}`,
  )
  expect(status).not.toContain('sgw messages resend --failed-since 24h --tenant')
  const again = ['messages', 'resend', '--failed-since', '24h', '--tenant', tenantId, '--yes']
  for (const words of [again, ['messages', 'resend', messageId, '--tenant', tenantId, '--yes']]) {
    const refused = await run(...words)
    expect(refused.code).toBe(1)
    expect(refused.text).toStartWith('resent 0 refused 1 ')
    expect(refused.text).toContain(
      'no connected extension has their number (--from NUMBER sends them from another one)',
    )
  }
  expect(world.control.messages({ direction: 'Outbound' })).toEqual([])
  expect(await run(...again, '--from', FROM)).toMatchObject({ code: 0, text: expect.stringMatching(/^resent 1 /) })
  const after = (await run('status')).text
  expect(after).not.toContain('messages resend --failed-since 24h --tenant')
  await operator.stop()
})

test('once its number belongs to a connected extension, or the operator names the reason, it is sent again as it is', async () => {
  await using world = await createWorld()
  const operator = openOperatorSocket(world)
  const { tenantId } = world
  const again = ['messages', 'resend', '--failed-since', '24h', '--tenant', tenantId, '--yes', '--dry-run', '--json']
  await world.untilStatus(await world.send({ from: ELSEWHERE }), ['failed'])
  const counted = async (...more: string[]) =>
    JSON.parse((await sgwIn(world.folder, [...again, ...more])).stdout) as object
  expect(await counted()).toMatchObject({ resent: 0, refused: 1 })
  expect(await counted('--failure', 'unknown_number')).toMatchObject({ resent: 1, refused: 0 })
  await world.gateway.database.gate.execute({
    sql: 'INSERT INTO phone_numbers (tenant_id, number, extension_id) SELECT ?1, ?2, extension_id FROM extensions WHERE tenant_id = ?1',
    args: [tenantId, ELSEWHERE],
  })
  expect(await counted()).toMatchObject({ resent: 1, refused: 0 })
  expect(flat((await sgwIn(world.folder, ['status'])).stdout)).toContain(
    `sgw messages resend --failed-since 24h --tenant ${tenantId}`,
  )
  await operator.stop()
})
