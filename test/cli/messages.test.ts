import { expect, setDefaultTimeout, test } from 'bun:test'
import { SendBody } from '../../src/api/sms/schemas.ts'
import { withServer } from '../support/cli-server.ts'
import { sgwIn, startSgw } from '../support/cli.ts'
import { PNG, uploaded } from '../support/media.ts'
import { receiveText } from '../support/provider-events.ts'
import { FROM, TO, type World, until } from '../support/world.ts'

// Each test starts many processes, and all run at once.
setDefaultTimeout(60_000)

test.concurrent('messages are listed over all tenants, newest first, and one is shown with its steps', async () => {
  await withServer(async (world, sgw) => {
    const other = await world.otherTenant()
    const first = await world.send({ body: 'first' })
    await world.untilStatus(first)
    await receiveText(world, 'for the other tenant', other.tenantId)
    const all = await sgw.json<{ messages: { messageId: string; tenantId: string }[]; total: number }>(
      'messages',
      'list',
    )
    expect(Object.keys(all)).toEqual(['messages', 'total', 'page', 'limit'])
    expect(all.messages.map(({ tenantId }) => tenantId)).toEqual([other.tenantId, world.tenantId])
    expect(all.total).toBe(2)
    const lineOf = async (page: string): Promise<string | undefined> =>
      (await sgw.text('messages', 'list', '--limit', '1', '--page', page)).stdout.trimEnd().split('\n').at(-1)
    expect(await lineOf('1')).toBe('1 of 2, page 1 of 2: --page 2 shows more')
    expect(await lineOf('2')).toBe('1 of 2, page 2 of 2')
    expect(await lineOf('9')).toBe('2 in all: the last page is 2')
    const second = await sgw.json<{ messages: unknown[] }>('message', 'list', '--limit', '1', '--page', '2')
    expect(second).toMatchObject({ messages: [{ messageId: first }], total: 2, page: 2, limit: 1 })
    const own = await sgw.json<{ messages: unknown[] }>('messages', 'list', '--tenant', world.tenantId)
    expect(own.messages).toHaveLength(1)
    const { messages, ...page } = (await world.json<{ messages: object[] }>('GET', '/v1/sms/messages')).body
    expect(own).toEqual({ ...page, messages: messages.map((one) => ({ ...one, tenantName: 'First' })) })
    await receiveText(world, 'STOP')
    const ofContact = ['messages', 'list', '--contact', '+15555550123']
    const optedOut = /^! \+15555550123 opted out of \+15555550100 since \S+ \S+ \(keyword\)$/m
    expect((await sgw.text(...ofContact, '--tenant', world.tenantId)).stdout).toMatch(optedOut)
    expect((await sgw.text(...ofContact)).stdout.match(/opted out/g)).toHaveLength(1)
    const table = await sgw.text('messages', 'list')
    expect(table.stdout).toMatch(new RegExp(`^${first} .*→ \\${TO} +(sent|delivered) +First +first$`, 'm'))
    expect(table.stdout).toContain('for the other tenant')
    const shown = await sgw.json<{ entries: object[] }>('messages', 'show', first)
    expect(Object.keys(shown)).toEqual(['messageId', 'status', 'deliveryStatus', 'waiting', 'entries'])
    expect(shown).toMatchObject({ messageId: first, status: 'sent' })
    // Later it may be delivered as well.
    expect(shown.entries.slice(0, 3)).toMatchObject([
      { type: 'queued' },
      { type: 'attempt', outcome: 'accepted' },
      { type: 'sent' },
    ])
    const steps = await sgw.text('messages', 'show', first)
    expect(steps.stdout).toMatch(/^body +first$[\s\S]*^\S+ \S+ +attempt +number=1 outcome=accepted/m)
    const missing = await sgw.text('messages', 'show', 'msg_000000000000')
    expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('sgw messages list') })
    expect((await sgw.text('messages', 'list', '--statsu', 'sent')).stderr).toBe(
      "error: unknown option '--statsu'\n(Did you mean --status?)\nHelp: sgw messages list --help\n",
    )
  })
})

test.concurrent('failed messages are sent again once, as new messages; cancelled ones are not', async () => {
  await withServer(async (world, sgw) => {
    const refusal = {
      kind: 'respond',
      status: 400,
      body: { errors: [{ errorCode: 'CMN-101', message: 'No' }] },
    } as const
    world.control.fault({ route: 'sms', calls: null, fault: refusal })
    const failed = await world.send({ body: 'again' })
    await world.untilStatus(failed, ['failed'])
    const later = new Date(world.gateway.clock.now() + 3_600_000).toISOString()
    const cancelled = await world.send({ body: 'never', sendAt: later })
    await world.call('DELETE', `/v1/sms/${cancelled}`)
    const resend = resendOf(world)
    const none = { optedOut: 0, tooOld: 0, cancelled: 0, perhapsDelivered: 0, alreadyResent: 0, notFailed: 0 }
    expect(await sgw.json(...resend, '--dry-run')).toEqual({ resent: 1, refused: 0, left: { ...none, cancelled: 1 } })
    const asked = await sgw.text(...resend, '--failure', 'rejected')
    expect(asked.stderr).toBe(
      `Nothing was done: without a terminal this needs --yes:\n  sgw messages resend --failed-since 1h --failure rejected --tenant ${world.tenantId} --yes\n`,
    )
    expect(asked).toMatchObject({ code: 2, stdout: '' })
    expect((await sgw.text(...resend)).stderr).toStartWith('1 is left out: 1 cancelled\n')
    const again = await sgwIn(world.folder, [...resend, '--yes', '--json'])
    expect(JSON.parse(again.stdout)).toEqual({ resent: 1, refused: 0, left: { ...none, cancelled: 1 } })
    const bodies = async (): Promise<string[]> =>
      (await world.json<{ messages: { body: string }[] }>('GET', '/v1/sms/messages')).body.messages.map(
        ({ body }) => body,
      )
    expect((await bodies()).toSorted()).toEqual(['again', 'again', 'never'])
    await until(async () => (await sgw.json<{ total: number }>('messages', 'list', '--status', 'failed')).total === 3)
    // The new message has failed too, and is sent once more; the old one is not.
    const repeated = await sgwIn(world.folder, [...resend, '--yes', '--json'])
    expect(JSON.parse(repeated.stdout)).toEqual({
      resent: 1,
      refused: 0,
      left: { ...none, cancelled: 1, alreadyResent: 1 },
    })
    expect(repeated.stderr).toContain('2 are left out: 1 cancelled, 1 already sent again\n')
    expect(await bodies()).toHaveLength(4)
    for (const [words, said] of [
      [['--failed-since', 'noon'], '2h for two hours ago'],
      [['--failed-since', '1h', '--max-age', '5'], 'such as 60m'],
      [[], "required argument 'message' or option '--failed-since <time>' not specified"],
    ] as const)
      expect(await sgw.text('messages', 'resend', ...words)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(said),
      })
    // Without --tenant where there is only one; another one has to be named.
    expect(await sgw.json('messages', 'resend', failed, '--yes')).toEqual({
      resent: 0,
      refused: 0,
      left: { ...none, alreadyResent: 1 },
    })
    await world.otherTenant()
    expect(await sgw.text('messages', 'resend', failed, '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Name the tenant with --tenant TENANT'),
    })
  })
})

test.concurrent('a message is sent again with every field of its request but the time', async () => {
  await withServer(async (world) => {
    const message = { from: '+15555550999', to: TO, body: 'again', userId: 'user-42' }
    const mediaIds = [(await uploaded(world, PNG)).mediaId]
    // A new field of a send needs a value here, and must be copied by src/operator/resend-messages.ts and the console's actions.tsx.
    expect(Object.keys({ ...message, sendAt: null, mediaIds }).toSorted()).toEqual(
      Object.keys(SendBody.shape).toSorted(),
    )
    const sendAt = new Date(world.gateway.clock.now() - 1000).toISOString()
    const failed = await world.send({ ...message, sendAt, mediaIds })
    await world.untilStatus(failed, ['failed'])
    expect(
      (await sgwIn(world.folder, [...resendOf(world), '--failure', 'unknown_number', '--yes', '--json'])).code,
    ).toBe(0)
    const { body } = await world.json<{ messages: object[] }>('GET', '/v1/sms/messages?include=delivery')
    expect(body.messages).toMatchObject([
      { ...message, attachments: 1, messageId: expect.not.stringContaining(failed) },
      { ...message, attachments: 1, messageId: failed },
    ])
  })
})

test.concurrent('send --wait and status say why a message waits', async () => {
  await withServer(
    async (world, sgw) => {
      await world.untilStatus(await world.send({}))
      await using sending = startSgw(world.folder, ['send', '--from', FROM, '--to', TO, '--wait', 'hello'])
      await sending.printed(/^It waits\. number_limit: its number has used its rate limit \(until \S+ \S+\)\n/m)
      const { stdout } = await sgw.text('status')
      expect(stdout).toMatch(/^! 1 message has waited since .*\n {4}number_limit: /m)
    },
    { FROM_LIMIT_PER_MINUTE: '1' },
  )
})

test.concurrent('extensions are listed, and a link connects another one', async () => {
  await withServer(async (world, sgw) => {
    const { extensions } = (await world.json<{ extensions: object[] }>('GET', '/v1/rc/extensions')).body
    expect(await sgw.json('extensions', 'list')).toEqual({
      extensions: extensions.map((extension) => ({
        ...extension,
        tenantId: world.tenantId,
        tenantName: 'First',
        name: 'Alice',
        connectedBy: 'link',
      })),
    })
    expect((await sgw.text('extension', 'list')).stdout).toContain(FROM)
    for (const words of [
      ['connect', '--app', world.app.appId],
      ['invite', '--app', world.app.appId],
      ['connect', '--tenant', world.tenantId],
    ]) {
      const { url } = await sgw.json<{ url: string }>('extensions', ...words)
      expect(url).toMatch(/^http:\/\/localhost:\d+\/v1\/rc\/connect\?token=/)
      const path = url.slice(new URL(url).origin.length)
      expect((await world.call('GET', path, { key: null })).status).toBe(200)
    }
  })
})

test.concurrent('events are followed from a cursor, of all tenants', async () => {
  await withServer(async (world) => {
    await using first = startSgw(world.folder, ['events'])
    const [, cursor = ''] = await first.printed(/--after (\S+)/)
    const id = await world.send({})
    await first.printed(new RegExp(`sms_status +${id} {2}sent`))
    await using second = startSgw(world.folder, ['events', '--after', cursor, '--json'])
    await second.printed(/Ready/)
    await receiveText(world, 'live', (await world.otherTenant()).tenantId)
    await second.printed(/live/)
    const types = second
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; status?: string })
      .map(({ type, status }) => status ?? type)
      // It may come between the others.
      .filter((type) => type !== 'sms_delivery')
    expect(types).toEqual(['queued', 'sending', 'sent', 'sms_inbound'])
  })
})

const resendOf = (world: World): string[] => ['messages', 'resend', '--failed-since', '1h', '--tenant', world.tenantId]
