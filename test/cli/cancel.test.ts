import { expect, setDefaultTimeout, test } from 'bun:test'
import { withServer } from '../support/cli-server.ts'
import { sgwIn } from '../support/cli.ts'
import { temporaryFolder } from '../support/process.ts'
import { FROM, type World, createWorld } from '../support/world.ts'

// Each test starts many processes, and all run at once.
setDefaultTimeout(60_000)

const later = ({ gateway }: World, ms: number): string => new Date(gateway.clock.now() + ms).toISOString()

test.concurrent("a suspended tenant's scheduled texts are counted, cancelled after a question, and never go out", async () => {
  await withServer(async (world, sgw) => {
    const { tenantId } = world
    const ids = [await world.send({ sendAt: later(world, 60_000) }), await world.send({ sendAt: later(world, 90_000) })]
    await sgw.json('tenant', 'suspend', tenantId)
    const cancel = ['messages', 'cancel', '--tenant', tenantId]
    expect(await sgw.json(...cancel, '--dry-run')).toEqual({ cancelled: 2, left: 0 })
    expect(await sgw.text(...cancel)).toEqual({
      code: 2,
      stdout: '',
      stderr: 'Nothing was done: without a terminal this needs --yes\n',
    })
    expect(await sgw.json('messages', 'list', '--state', 'scheduled')).toMatchObject({ total: 2 })
    expect(await sgw.json(...cancel, '--state', 'waiting', '--yes')).toEqual({ cancelled: 0, left: 0 })
    expect(await sgw.json(...cancel, '--app', world.app.appId, '--state', 'scheduled', '--yes')).toEqual({
      cancelled: 2,
      left: 0,
    })
    await sgw.json('tenant', 'activate', tenantId)
    for (const id of ids) expect(await world.status(id)).toMatchObject({ error: 'Cancelled before sending' })
    // There is nothing to ask about.
    expect((await sgw.text(...cancel)).stdout).toBe('cancelled  0\nleft       0\n')
  })
})

test.concurrent('messages are cancelled by their ids, and wrong usage cancels none', async () => {
  await withServer(async (world, sgw) => {
    const sent = await world.send()
    await world.untilStatus(sent)
    const [first, second] = [
      await world.send({ sendAt: later(world, 60_000) }),
      await world.send({ sendAt: later(world, 60_000) }),
    ]
    const refused = async (code: number, error: string, ...words: string[]): Promise<void> =>
      expect(await sgw.text('messages', 'cancel', ...words)).toMatchObject({
        code,
        stdout: '',
        stderr: expect.stringContaining(error),
      })
    await refused(2, "required argument 'message' or option '--tenant <tenant>' not specified")
    await refused(2, "required argument 'message'", '--app', world.app.appId)
    await refused(2, 'not both', first, '--tenant', world.tenantId, '--yes')
    await refused(2, 'Allowed choices are waiting, scheduled', '--tenant', world.tenantId, '--state', 'failed')
    await refused(1, 'Message not found: list the messages with sgw messages list', first, 'msg_000000000000', '--yes')
    await refused(1, 'Invalid messageId format', 'x')
    await refused(1, 'Tenant not found: list them with sgw tenant list', '--tenant', 'tenant_0000000000000000', '--yes')
    await refused(1, 'App not found', '--tenant', world.tenantId, '--app', 'app_0000000000000000', '--yes')
    await refused(2, '--yes', first)
    expect(await sgw.json('messages', 'list', '--state', 'scheduled')).toMatchObject({ total: 2 })
    expect(await sgw.json('message', 'cancel', first, sent, '--yes')).toEqual({ cancelled: 1, left: 1 })
    const many = Array(100).fill(sent) as string[]
    expect(await sgw.json('messages', 'cancel', ...many, second, '--yes')).toEqual({ cancelled: 1, left: 1 })
  })
})

test.concurrent('without a server, messages are cancelled in its database, and the next start sends none', async () => {
  using folder = temporaryFolder()
  const before = await createWorld({ work: false, folder: folder.path })
  const ids = [await before.send(), await before.send({ sendAt: later(before, 1) })]
  const { tenantId, key } = before
  await before[Symbol.asyncDispose]()
  const cancel = ['messages', 'cancel', '--tenant', tenantId, '--yes', '--json']
  expect(JSON.parse((await sgwIn(folder.path, cancel)).stdout)).toEqual({ cancelled: 2, left: 0 })
  const { queue } = JSON.parse((await sgwIn(folder.path, ['status', '--json'])).stdout) as { queue: object }
  expect(queue).toMatchObject({ send: 0, oldestQueuedAt: null })
  expect(queue).not.toHaveProperty('schedule')
  await using after = await createWorld({ folder: folder.path })
  await after.untilStatus(await after.send({ body: 'after' }))
  expect(after.control.messages({ direction: 'Outbound' }).map(({ text }) => text)).toEqual(['after'])
  for (const id of ids) expect(await after.status(id, { key })).toMatchObject({ error: 'Cancelled before sending' })
})

test.concurrent('an extension is disconnected after a question, also of a tenant that is not active, and whose apps are not', async () => {
  await withServer(async (world, sgw) => {
    const { tenantId } = world
    world.control.addExtension({ extensionId: '4242', numbers: ['+15555550142'] })
    const disconnect = ['extensions', 'disconnect', '4242', '--tenant', tenantId]
    const connected = async (): Promise<string> => (await sgw.text('extensions', 'list', '--json')).stdout
    for (const standing of [[], ['tenant', 'suspend', tenantId], ['tenant', 'deactivate', tenantId]]) {
      await sgw.json('tenant', 'activate', tenantId)
      await world.connect({ extensionId: '4242' })
      if (standing.length > 0) await sgw.json(...standing)
      expect(await sgw.text(...disconnect)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('--yes'),
      })
      expect(await connected()).toContain('4242')
      expect(await sgw.json(...disconnect, '--yes')).toEqual({ ok: true })
      expect(await connected()).not.toContain('4242')
      expect(await connected()).toContain(FROM)
    }
    expect(await sgw.text(...disconnect, '--yes')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Extension not found: list the extensions with sgw extensions list\n',
    })
    await sgw.json('app', 'deactivate', world.app.appId, '--yes')
    const { extensions } = JSON.parse(await connected()) as { extensions: { extensionId: string }[] }
    const words = ['extension', 'disconnect', extensions[0]?.extensionId ?? '', '--tenant', tenantId, '--yes']
    expect(await sgw.json(...words)).toEqual({ ok: true })
    expect(await connected()).not.toContain(FROM)
    expect((await sgw.text('extensions', 'disconnect', '4242')).stderr).toContain("'--tenant <tenant>' not specified")
  })
})

test.concurrent('erase --cancel deletes what waits, and says without it how much is left', async () => {
  await withServer(async (world, sgw) => {
    await world.send({ to: '+15555550188', sendAt: later(world, 60_000) })
    const erase = ['erase', '--phone', '+15555550188']
    expect(await sgw.json(...erase, '--dry-run')).toMatchObject({ messages: 0, waiting: 1 })
    expect(await sgw.json(...erase, '--dry-run', '--cancel')).toMatchObject({ messages: 1, waiting: 0 })
    expect(await sgw.json(...erase, '--yes')).toMatchObject({ messages: 0, waiting: 1 })
    expect((await sgw.text(...erase, '--cancel')).code).toBe(2)
    expect(await sgw.json(...erase, '--cancel', '--yes')).toMatchObject({ messages: 1, waiting: 0 })
    expect(await sgw.json('messages', 'list')).toMatchObject({ total: 0 })
  })
})
