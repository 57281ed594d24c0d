import { expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { MESSAGE_FAILURES } from '../../src/core/message-failure.ts'
import { sgwIn } from '../support/cli.ts'
import { withServer } from '../support/cli-server.ts'
import { HeldGrant } from '../support/held-grant.ts'
import { folderInMemory } from '../support/memory-folder.ts'
import { openOperatorSocket } from '../support/operator.ts'
import { receiveText } from '../support/provider-events.ts'
import { createWorld, until } from '../support/world.ts'

// Each test starts many processes, and all run at once.
setDefaultTimeout(60_000)

interface Report {
  failed: {
    tenantId: string
    count: number
    since: string
    lastAt: string
    errors: object[]
    tenantStatus: string
    canResend: boolean
  }[]
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
        `^! 2 messages failed since \\S+ \\S+, the last at \\S+ \\S+, ${world.tenantId} \\(First\\)\\n.*\\n {4}List them, and send them again:\\n {4}sgw (messages list .*)\\n {4}sgw (messages resend .*)$`,
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
        tenantStatus: 'active',
        canResend: true,
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

test.concurrent('messages that were sent again, or whose tenant is not active, are not offered to be sent again', async () => {
  await withServer(async (world, sgw) => {
    const setExtensions = async (status: string): Promise<void> => {
      await world.gateway.database.gate.execute({ sql: 'UPDATE extensions SET status = ?1', args: [status] })
      world.gateway.directory.forget(world.tenantId)
    }
    await setExtensions('revoked')
    const first = Date.now()
    await world.untilStatus(await world.send({ body: 'zero' }), ['failed'])
    const [, day = '', time = ''] =
      /^! 1 message failed at (\S+) (\S+), /m.exec((await sgw.text('status')).stdout) ?? []
    const failedAt = Date.parse(`${new Date(first).toISOString().slice(0, 5)}${day}T${time}Z`)
    expect(failedAt).toBeGreaterThanOrEqual(Math.floor(first / 1000) * 1000)
    expect(failedAt).toBeLessThanOrEqual(Date.now())
    for (const body of ['one', 'two']) await world.untilStatus(await world.send({ body }), ['failed'])
    await setExtensions('active')
    const offer = `sgw messages resend --failed-since 24h --tenant ${world.tenantId}`
    const shown = async (): Promise<string> => (await sgw.text('status')).stdout
    expect(await shown()).toContain(offer)
    for (const [verb, word] of [
      ['suspend', 'suspended'],
      ['deactivate', 'deactivated'],
    ] as const) {
      await sgw.json('tenant', verb, world.tenantId)
      const text = await shown()
      expect(text).toContain(
        `The tenant is ${word}, so none can be sent again. List them:\n    sgw messages list --status failed`,
      )
      expect(text).not.toContain('resend')
    }
    await sgw.json('tenant', 'activate', world.tenantId)
    expect(await shown()).toContain(offer)
    expect((await sgw.text(...offer.split(' ').slice(1), '--yes')).code).toBe(0)
    const after = await shown()
    expect(after).toContain('! 3 messages failed since ')
    expect(after).toContain('    None is left to send again. List them:\n')
    expect(after).not.toContain('resend')
    await setExtensions('revoked')
    await world.untilStatus(await world.send({ body: 'three' }), ['failed'])
    expect(await shown()).toContain(offer)
  })
})

test.concurrent('the queue is told in words: how much is scheduled and until when, and one or several of each kind', async () => {
  await withServer(async (world, sgw) => {
    const day = (date: string): string => new Date(`2099-12-${date}T18:00:00Z`).toISOString()
    const add = (kind: string, dueAt: string, count: number): Promise<unknown> =>
      world.gateway.database.gate.batch(
        Array.from({ length: count }, (_, number) => ({
          sql: `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at) VALUES ('job_0', ?1, 'x', 'tenant_x', ?2, ?3, 0)`,
          args: [kind, `${kind} ${number} ${dueAt}`, Date.parse(dueAt)],
        })),
      )
    const queue = async (): Promise<string> => /^queue +(.*)$/m.exec((await sgw.text('status')).stdout)?.[1] ?? ''
    const idle = await queue()
    expect(['empty', '1 back-fill']).toContain(idle)
    await world.gateway.database.gate.execute("DELETE FROM jobs WHERE kind = 'back_fill'")
    const kinds = ['webhook', 'webhook_retry', 'back_fill'] as const
    await add('schedule', day('24'), 1)
    for (const kind of kinds) await add(kind, day('01'), 1)
    expect(await queue()).toBe('1 scheduled until 12-24 18:00:00, 1 webhook, 1 webhook retry, 1 back-fill')
    await add('schedule', day('25'), 499)
    for (const kind of kinds) await add(kind, day('02'), 1)
    expect(await queue()).toBe('500 scheduled until 12-25 18:00:00, 2 webhooks, 2 webhook retries, 2 back-fills')
    const { queue: json } = await sgw.json<{ queue: object }>('status')
    expect(json).toMatchObject({ schedule: 500, scheduledUntil: day('25') })
  })
})

test.concurrent('one message that waits is told from several', async () => {
  await withServer(async (world, sgw) => {
    const sendAt = new Date(world.gateway.clock.now() + 3_600_000).toISOString()
    await world.send({ sendAt })
    expect((await sgw.text('status')).stdout).toMatch(
      /^✓ 1 message has waited since [^]*^ {4}scheduled: it is scheduled/m,
    )
    await world.send({ sendAt })
    expect((await sgw.text('status')).stdout).toMatch(
      /^✓ 2 messages have waited since [^]*^ {4}scheduled: they are scheduled/m,
    )
    expect((await sgw.text('status')).stdout).toMatch(/^queue +2 scheduled until \S+ \S+$/m)
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
      /^✗ since \S+ \S+\n {4}The database .* cannot be written: the storage fails\. .*; check the free space and the disk\.$/m,
    )
    expect((await sgw.json<Report>('status')).storage).toContain('cannot be written: the storage fails. ')
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
    expect(text).toContain(
      'provider_unreachable: the provider cannot be reached, a proxy in between refuses the calls, or the provider answers 503: sgw doctor says which',
    )
  })
})

test.concurrent('a gateway with STANDBY says who holds the lease, with which epoch, and how long ago it was renewed', async () => {
  await using world = await createWorld({ lease: new HeldGrant() })
  const operator = openOperatorSocket(world)
  const { stdout } = await sgwIn(world.folder, ['status'])
  expect(stdout).toMatch(/^lease +held by this gateway, one:3000, with epoch 1, renewed 250 ms ago$/m)
  await operator.stop()
})

test.concurrent('while no server runs nothing says that a socket receives', async () => {
  const world = await createWorld({ env: { RC_EVENTS: 'websocket' } })
  const active = async () =>
    (await world.gateway.database.gate.execute('SELECT status FROM subscriptions')).rows.map((row) => row['status'])
  await until(async () => (await active()).join() === 'active')
  await world.running.stop()
  const sgw = (...words: string[]) => sgwIn(world.folder, words)
  const { subscriptions } = JSON.parse((await sgw('status', '--json')).stdout) as { subscriptions: object }
  expect(subscriptions).toEqual({ active: 0, pending: 1, earliestExpiry: null })
  expect((await sgw('extensions', 'list')).stdout).toContain('No server is running, so it receives nothing')
  const findings = JSON.parse((await sgw('doctor', '--json')).stdout) as { check: string }[]
  expect(findings.find(({ check }) => check === 'subscriptions')).toMatchObject({
    level: 'warn',
    detail: expect.stringContaining(
      ' does not receive events. No server is running, so it receives nothing. Start the server: ',
    ),
  })
})

test.concurrent('an address that wrong keys have blocked is shown with the command that lets it in, also without a server', async () => {
  const folder = folderInMemory()
  const line =
    /^! blocked, even for valid keys, .*127\.0\.0\.1 until 2.*Z\. Correct the\s+client, then sgw unblock 127\.0\.0\.1$/m
  {
    await using world = await createWorld({ connect: false, folder })
    const operator = openOperatorSocket(world)
    expect((await sgwIn(folder, ['status'])).stdout).not.toContain('unblock')
    for (let time = 0; time < 10; time++) await world.call('GET', '/v1/apps', { key: 'sgw_guess' })
    // It counts at once, and is stored a moment later.
    await until(
      async () => (await world.gateway.database.gate.execute('SELECT 1 FROM blocked_addresses')).rows.length === 1,
    )
    expect((await sgwIn(folder, ['status'])).stdout).toMatch(line)
    await operator.stop()
  }
  expect((await sgwIn(folder, ['status'])).stdout).toMatch(line)
  expect((await sgwIn(folder, ['doctor'])).stdout).toMatch(/^! blocked addresses +blocked, even for valid keys, /m)
  rmSync(folder, { recursive: true })
})
