import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectSimulator, prepareApp } from '../../src/server/development/prepare.ts'
import { sgwIn, startSgw } from '../support/cli.ts'
import { manualClock } from '../support/manual-clock.ts'
import { openOperatorSocket } from '../support/operator.ts'
import { inboundMessages } from '../support/provider-events.ts'
import { type Received, startReceiver, verifySignatures } from '../support/receiver.ts'
import { FROM, FROM_2, type World, createWorld, until } from '../support/world.ts'

const CONTACT = '+15555550177'

interface Development extends AsyncDisposable {
  world: World
  /** The key of the app that a development server creates. */
  key: string
}

/** A development server as `main.ts` builds it: its tenant is connected, and the operator's socket is open. */
async function startDevelopment(options: { folder?: string; simulated?: boolean } = {}): Promise<Development> {
  const world = await createWorld({
    connect: false,
    ...(options.folder === undefined ? {} : { folder: options.folder }),
  })
  const { apiKey: key, tenantId } = await prepareApp(world.gateway)
  await connectSimulator(world.running, world.control, tenantId, false)
  // On a busy machine the subscription may need a second try.
  await until(() => world.control.subscriptions().length > 0, 60_000)
  if (options.simulated === false) world.gateway.simulator = null
  const operator = openOperatorSocket(world)
  return {
    world,
    key,
    async [Symbol.asyncDispose]() {
      await operator.stop()
      await world[Symbol.asyncDispose]()
    },
  }
}

const inbound = (command: string[], options: { to?: string; from?: string; text?: string } = {}): string[] => [
  ...command,
  '--to',
  options.to ?? FROM,
  '--from',
  options.from ?? CONTACT,
  '--text',
  options.text ?? 'hello',
]

test.concurrent('a message that a development server sends is delivered', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, clock })
  const { apiKey: key, tenantId } = await prepareApp(world.gateway)
  await connectSimulator(world.running, world.control, tenantId, false)
  const id = await world.send({}, { key })
  await world.untilStatus(id, ['sent'], 20_000, { key })
  clock.advance(10_000)
  await until(async () => {
    const { body } = await world.json<{ deliveryStatus: string }>('GET', `/v1/sms/${id}/timeline`, { key })
    return body.deliveryStatus === 'delivered'
  })
})

describe.each([[['simulate', 'inbound']], [['trigger', 'sms_inbound']]])('sgw %p', (command) => {
  test.concurrent('sends an inbound SMS through the real webhook and prints its id', async () => {
    await using development = await startDevelopment()
    const { world, key } = development
    const result = await sgwIn(world.folder, [...inbound(command, { to: FROM_2, text: 'Grüße --json' }), '--json'])
    expect({ code: result.code, stderr: result.stderr }).toEqual({ code: 0, stderr: '' })
    const { id } = JSON.parse(result.stdout) as { id: string }
    expect(result.stdout).toBe(`${JSON.stringify({ id })}\n`)
    const { messages } = await inboundMessages(world, { key })
    expect(messages).toMatchObject([{ rcMessageId: id, to: FROM_2, from: CONTACT, body: 'Grüße --json' }])
  })

  test.concurrent('exits with 7 without a server, and with 1 if the server has no simulator', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
    await using development = await startDevelopment({ simulated: false })
    const [alone, real] = await Promise.all([
      sgwIn(folder, inbound(command)),
      sgwIn(development.world.folder, inbound(command)),
    ])
    rmSync(folder, { recursive: true })
    expect(alone).toMatchObject({ code: 7, stdout: '', stderr: expect.stringContaining('No server answers') })
    expect(real).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('only with the built-in simulator'),
    })
  })

  test.concurrent('refuses wrong numbers and missing options', async () => {
    await using development = await startDevelopment()
    const cases = [
      inbound(command, { to: '5550100' }),
      inbound(command, { from: 'Bob' }),
      inbound(command, { to: '+15555550999' }),
      [...command, '--to', FROM],
    ]
    const [badTo, badFrom, unknown, incomplete] = await Promise.all(
      cases.map((args) => sgwIn(development.world.folder, args)),
    )
    expect(badTo).toMatchObject({ code: 1, stderr: expect.stringContaining('such as +15555550100\n') })
    expect(badFrom).toMatchObject({ code: 1, stderr: expect.stringContaining('such as +15555550100\n') })
    expect(unknown).toMatchObject({ code: 1, stderr: 'The simulator refuses: No extension owns +15555550999\n' })
    expect(incomplete?.code).toBe(2)
    expect((await inboundMessages(development.world, { key: development.key })).total).toBe(0)
  })
})

test.concurrent('refuses a number that is not connected', async () => {
  await using development = await startDevelopment()
  development.world.control.addExtension({ name: 'Bob', numbers: ['+15555550110'] })
  const result = await sgwIn(development.world.folder, inbound(['simulate', 'inbound'], { to: '+15555550110' }))
  expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining('connect its extension first') })
})

describe('sgw listen', () => {
  const READY = /Ready: .* (http:\/\/\S+), signed with (whsec_\S+) /

  test.concurrent('forwards inbound messages, signed, and shows the answers', async () => {
    await using receiver = startReceiver()
    await using development = await startDevelopment()
    const { world, key } = development
    await using listener = startSgw(world.folder, ['listen', '--forward-to', receiver.url])
    const [, url, secret = ''] = await listener.printed(READY)
    expect(url).toBe(receiver.url)
    await world.control.injectSms({ from: CONTACT, to: FROM, text: 'first' })
    const [post] = (await receiver.received(1)) as [Received]
    const [message] = (await inboundMessages(world, { key })).messages
    verifySignatures(post, secret)
    expect(post.body).toEqual({
      type: 'sms_inbound',
      messageId: message!.messageId,
      from: CONTACT,
      to: FROM,
      body: 'first',
      rcMessageId: message!.rcMessageId,
      tenantId: message!['tenantId'],
      timestamp: message!.createdAt,
      receivingExtensionId: message!['receivingExtensionId'],
    })
    expect(post.headers['webhook-id']).toBe(`${message!.messageId}:listen`)
    await listener.printed(new RegExp(`--> sms_inbound \\[${message!.messageId}\\]`))
    await listener.printed(new RegExp(`<-- {2}\\[200\\] POST ${receiver.url} \\[${message!.messageId}\\]`))
    receiver.answer = () => new Response('no', { status: 500 })
    await world.control.injectSms({ text: 'second' })
    await listener.printed(/<-- {2}\[500\] POST/)
    expect(listener.stderr()).toBe('')
  })

  test.concurrent('without an address it shows the messages of all tenants', async () => {
    await using development = await startDevelopment()
    const { world } = development
    const { extensionId } = world.control.addExtension({ name: 'Bob', numbers: ['+15555550110'] })
    await world.connect({ tenantId: world.tenantId, extensionId })
    await using listener = startSgw(world.folder, ['listen'])
    await listener.printed(/Ready: messages appear/)
    await world.control.injectSms({ from: CONTACT, to: FROM, text: 'to one' })
    await world.control.injectSms({ from: CONTACT, to: '+15555550110', text: 'to the other' })
    await listener.printed(/\d\d:\d\d:\d\d {2}\+15555550177 → \+15555550100 {2}to one\n/)
    await listener.printed(/→ \+15555550110 {2}to the other\n/)
  })

  test.concurrent('with --json, standard output has one line per event, and standard error the rest', async () => {
    await using development = await startDevelopment()
    const { world } = development
    await using receiver = startReceiver()
    await using listener = startSgw(world.folder, ['listen', '--json', '--forward-to', receiver.url])
    await listener.printed(READY)
    await world.control.injectSms({ text: 'first' })
    await until(() => listener.stdout().endsWith('\n'))
    await receiver[Symbol.asyncDispose]()
    await world.control.injectSms({ text: 'second' })
    await until(() => listener.stdout().split('\n').length === 3)
    const lines = listener
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines).toMatchObject([
      {
        type: 'sms_inbound',
        body: 'first',
        delivery: { url: receiver.url, outcome: 'success', statusCode: 200, errorClass: null },
      },
      {
        type: 'sms_inbound',
        body: 'second',
        delivery: { url: receiver.url, outcome: 'network_error', statusCode: null, errorClass: 'ECONNREFUSED' },
      },
    ])
    await listener.printed(/<-- {2}\[ERROR\] POST \S+ \[msg_[0-9a-f]{12}\]: The destination refused the connection/)
    expect(listener.stderr()).toMatch(READY)
  })

  test.concurrent('with --tenant it ignores messages of other tenants, and always outbound ones', async () => {
    await using receiver = startReceiver()
    await using development = await startDevelopment()
    const { world, key } = development
    const { tenantId } = (await world.json<{ tenantId: string }>('GET', '/v1/me', { key })).body
    const { extensionId } = world.control.addExtension({ name: 'Bob', numbers: ['+15555550110'] })
    await world.connect({ tenantId: world.tenantId, extensionId })
    await using listener = startSgw(world.folder, ['listen', '--forward-to', receiver.url, '--tenant', tenantId])
    await listener.printed(READY)
    await world.control.injectSms({ to: '+15555550110', text: 'foreign' })
    await world.send({}, { key })
    await world.control.injectSms({ to: FROM, text: 'own' })
    const [post] = (await receiver.received(1)) as [Received]
    expect(post.body['body']).toBe('own')
    expect(receiver.requests).toHaveLength(1)
  })

  test.concurrent('keeps its secret in a file of mode 600 beside the database, and reconnects after a restart', async () => {
    await using receiver = startReceiver()
    const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
    const first = await startDevelopment({ folder })
    await using listener = startSgw(folder, ['listen', '--forward-to', receiver.url])
    const [, , secret] = await listener.printed(READY)
    await first[Symbol.asyncDispose]()
    await listener.printed(/The server has stopped/)
    {
      await using second = await startDevelopment({ folder })
      await until(() => listener.stdout().split('Ready').length === 3)
      await second.world.control.injectSms({ text: 'after the restart' })
      await receiver.received(1)
      expect(new Set(listener.stdout().match(/whsec_\S+/g))).toEqual(new Set([secret ?? '']))
    }
    expect(statSync(join(folder, 'listen-webhook-secret')).mode & 0o777).toBe(0o600)
    rmSync(folder, { recursive: true })
  })

  test.concurrent('fails without a server, a tenant, or an address that can be forwarded to', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
    const listen = (cwd: string) => sgwIn(cwd, ['listen', '--forward-to', 'http://localhost:1/'])
    for (const cwd of [folder, join(folder, 'not-there-yet')])
      expect(await listen(cwd)).toMatchObject({
        code: 7,
        stdout: '',
        stderr: expect.stringMatching(/^No server answers.*\n$/),
      })
    expect(readdirSync(folder)).toEqual([])
    rmSync(folder, { recursive: true })
    await using world = await createWorld({ connect: false })
    const operator = openOperatorSocket(world)
    const cases = [
      ['--forward-to', 'http://localhost:1/', '--tenant', `tenant_${'0'.repeat(16)}`],
      ['--forward-to', 'localhost:1'],
    ]
    const [noTenant, noAddress] = await Promise.all(cases.map((args) => sgwIn(world.folder, ['listen', ...args])))
    expect(noTenant).toMatchObject({ code: 1, stderr: expect.stringContaining('Tenant not found') })
    expect(noAddress).toMatchObject({ code: 2, stderr: expect.stringContaining('Cannot forward to') })
    await operator.stop()
  })
})

test.concurrent('simulate inbound attaches files, with the type of their names', async () => {
  await using development = await startDevelopment()
  const { world, key } = development
  const picture = join(world.folder, 'a picture.png')
  await Bun.write(picture, 'the bytes')
  await Bun.write(join(world.folder, 'large.bin'), new Uint8Array(5_000_000))
  const words = ['simulate', 'inbound', '--to', FROM, '--from', CONTACT]
  const sent = await sgwIn(world.folder, [
    ...words,
    '--attach',
    picture,
    '--attach',
    join(world.folder, 'large.bin'),
    '--json',
  ])
  expect(sent).toMatchObject({ code: 0, stderr: '' })
  const { body } = await world.json<{ messages: { messageId: string; body: string }[] }>('GET', '/v1/sms/messages', {
    key,
  })
  const path = `/v1/sms/${body.messages[0]?.messageId}/attachments`
  const list = await world.json<{ attachments: { attachmentId: string }[] }>('GET', path, { key })
  expect([body.messages[0]?.body, list.body.attachments as object[]]).toMatchObject([
    '',
    [
      { contentType: 'image/png', fileName: 'a picture.png', size: 9 },
      { contentType: 'application/octet-stream', fileName: 'large.bin', size: 5_000_000 },
    ],
  ])
  const [first] = list.body.attachments
  expect(await (await world.call('GET', `${path}/${first?.attachmentId}`, { key })).text()).toBe('the bytes')
  const [missing, folder, nothing] = await Promise.all([
    sgwIn(world.folder, [...words, '--attach', 'no-such-file.png']),
    sgwIn(world.folder, [...words, '--attach', world.folder]),
    sgwIn(world.folder, words),
  ])
  expect([missing, folder, nothing]).toEqual([
    { code: 1, stdout: '', stderr: 'no-such-file.png cannot be read (ENOENT)\n' },
    { code: 1, stdout: '', stderr: `${world.folder} cannot be read (EISDIR)\n` },
    { code: 1, stdout: '', stderr: 'body must be 1-1600 characters\n' },
  ])
})
