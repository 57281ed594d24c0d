import { expect, setDefaultTimeout, test } from 'bun:test'
import { MESSAGE_FAILURES } from '../../src/core/message-failure.ts'
import { sgwIn } from '../support/cli.ts'
import { withServer } from '../support/cli-server.ts'
import { HeldGrant } from '../support/held-grant.ts'
import { openOperatorSocket } from '../support/operator.ts'
import { receiveText } from '../support/provider-events.ts'
import { createWorld, until } from '../support/world.ts'

// Each test starts many processes, and all run at once.
setDefaultTimeout(60_000)

interface Report {
  failed: { tenantId: string; count: number; since: string; lastAt: string; errors: object[] }[]
  storage: string | null
}

test.concurrent('messages that failed are shown with their reasons, and with commands that list and resend them', async () => {
  await withServer(async (world, sgw) => {
    const before = Date.now()
    expect(await sgw.json<Report>('status')).toMatchObject({ failed: [], storage: null })
    // These two are no faults of the gateway's: somebody wanted them to fail.
    const later = new Date(world.gateway.clock.now() + 3_600_000).toISOString()
    await world.call('DELETE', `/v1/sms/${await world.send({ sendAt: later })}`)
    await world.call('PUT', '/v1/opt-outs/policy', { body: { policy: 'block' } })
    const contact = '+15555550123'
    await receiveText(world, 'STOP')
    await world.untilStatus(await world.send({ to: contact }), ['failed'])
    expect((await sgw.text('status')).stdout).not.toContain('failed')
    const other = await world.otherTenant()
    await world.gateway.database.gate.execute({
      sql: "UPDATE extensions SET status = 'revoked' WHERE tenant_id = ?1",
      args: [world.tenantId],
    })
    world.gateway.directory.forget(world.tenantId)
    const messages = [await world.send({ body: 'one' }), await world.send({ body: 'two' })]
    for (const message of messages) await world.untilStatus(message, ['failed'])
    const text = (await sgw.text('status')).stdout
    const ofTenant = `--tenant ${world.tenantId}`
    expect(text).toMatch(/^queue +empty$/m)
    expect(text).toContain(`    2 ${MESSAGE_FAILURES.revoked.text}\n`)
    const [, list = '', resend = ''] =
      new RegExp(
        `^! 2 messages failed since \\S+ \\S+, ${world.tenantId}\\n.*\\n {4}The last at \\S+ \\S+. List them, and send them again:\\n {4}sgw (messages list .*)\\n {4}sgw (messages resend .*)$`,
        'm',
      ).exec(text) ?? []
    expect([list, resend]).toEqual([
      `messages list --status failed ${ofTenant}`,
      `messages resend --failed-since 24h ${ofTenant}`,
    ])
    const { failed } = await sgw.json<Report>('status')
    expect(failed).toEqual([
      {
        tenantId: world.tenantId,
        count: 2,
        since: expect.any(String),
        lastAt: expect.any(String),
        errors: [{ error: MESSAGE_FAILURES.revoked.text, count: 2 }],
      },
    ])
    const { since = '', lastAt = '' } = failed[0] ?? {}
    expect(Date.parse(lastAt)).toBeGreaterThanOrEqual(before - 1)
    expect(Date.parse(since)).toBeLessThanOrEqual(Date.parse(lastAt))
    expect(Date.parse(lastAt) - Date.parse(since)).toBeLessThan(30 * 60_000)
    expect(
      (await sgw.json<{ messages: { messageId: string }[] }>(...list.split(' '))).messages.map(
        ({ messageId }) => messageId,
      ),
    ).toEqual(expect.arrayContaining(messages))
    const again = await sgw.text(...resend.split(' '), '--json', '--yes')
    expect({ code: again.code, result: JSON.parse(again.stdout) as object }).toMatchObject({
      code: 0,
      result: { resent: 2 },
    })
    expect(other.tenantId).not.toBe(world.tenantId)
  })
})

test.concurrent('a failing storage is shown at once, as the doctor shows it, and once more by its alert', async () => {
  await withServer(async (world, sgw) => {
    const { gate } = world.gateway.database
    const { rows } = await gate.execute('PRAGMA page_count')
    await gate.execute(`PRAGMA max_page_count = ${Number(rows[0]?.['page_count'])}`)
    await until(
      async () =>
        (
          await world.call('POST', '/v1/sms/send', {
            body: { from: '+15555550100', to: '+15555550199', body: 'x'.repeat(1600) },
          })
        ).status === 503,
    )
    const shown = (await sgw.text('status')).stdout
    expect(shown).toMatch(
      /^✗ the database cannot be written\n {4}the storage fails: .*; check the free space and the disk$/m,
    )
    expect((await sgw.json<Report>('status')).storage).toStartWith('the storage fails: ')
    await gate.execute('PRAGMA max_page_count = 4294967294')
    await until(async () => (await sgw.json<Report>('status')).storage === null)
  })
})

test.concurrent('a message that waits because the provider answered 503 is not said to wait for one that cannot be reached', async () => {
  await withServer(async (world, sgw) => {
    world.control.fault({ route: 'sms', calls: null, fault: { kind: 'respond', status: 503 } })
    await world.send()
    const text = await until(async () => {
      const { stdout } = await sgw.text('status')
      return stdout.includes('provider_unreachable') ? stdout : null
    }, 20_000)
    expect(text).toContain('provider_unreachable: the provider does not answer, or answers 503: sgw doctor says which')
  })
})

test.concurrent('a gateway with STANDBY says who holds the lease, with which epoch, and how long ago it was renewed', async () => {
  await using world = await createWorld({ lease: new HeldGrant() })
  const operator = openOperatorSocket(world)
  const { stdout } = await sgwIn(world.folder, ['status'])
  expect(stdout).toMatch(/^lease +held by this gateway, one:3000, with epoch 1, renewed 250 ms ago$/m)
  await operator.stop()
})
