import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MESSAGE_FAILURES } from '../../src/core/message-failure.ts'
import { sgwIn } from '../support/cli.ts'
import { withServer } from '../support/cli-server.ts'
import { folderInMemory } from '../support/memory-folder.ts'
import { operate } from '../support/operator.ts'
import { createWorld } from '../support/world.ts'

// Each test starts several processes, and all run at once.
setDefaultTimeout(60_000)

const WORDS = ['extensions', 'connect-jwt', '--tenant']

test.concurrent('a JWT from a file or from standard input connects its extension, and the list says which is which', async () => {
  await withServer(async (world, sgw) => {
    const { extensionId } = world.control.addExtension({ name: 'Bob', numbers: ['+15555550107'] })
    const { jwt } = world.control.addJwt({ extensionId })
    const file = join(world.folder, 'jwt.txt')
    writeFileSync(file, `${jwt}\n`)
    const answer = await sgw.json(...WORDS, world.tenantId, '--jwt-file', file)
    expect(answer).toEqual({
      tenantId: world.tenantId,
      extensionId,
      name: 'Bob',
      phoneNumbers: ['+15555550107'],
      receiving: true,
      fixes: [],
    })
    const piped = await sgwIn(world.folder, [...WORDS, world.tenantId, '--jwt-file', '-'], {}, new Blob([`${jwt}\n`]))
    expect(piped).toMatchObject({ code: 0, stderr: '' })
    const again = await sgw.text(...WORDS, world.tenantId, '--jwt-file', file)
    expect(again.stdout).toMatch(/^receiving +true$/m)
    expect(again.stdout).not.toMatch(/^fixes/m)
    const { stdout } = await sgw.text('extensions', 'list')
    const [head, ...rows] = stdout.trimEnd().split('\n')
    const by = (head ?? '').split(/ {2,}/).indexOf('by')
    expect(rows.map((row) => [row.split(/ {2,}/)[0], row.split(/ {2,}/)[by]])).toEqual([
      [world.control.extensions()[0]?.extensionId, 'link'],
      [extensionId, 'jwt, no end'],
    ])
  })
})

test.concurrent('a file that cannot be read is a wrong usage, and a refused JWT is told with what to mend', async () => {
  await withServer(async (world, sgw) => {
    const folder = join(world.folder, 'folder')
    mkdirSync(folder)
    for (const file of [join(world.folder, 'gone.txt'), folder])
      expect(await sgw.text(...WORDS, world.tenantId, '--jwt-file', file)).toEqual({
        code: 2,
        stdout: '',
        stderr: `${file} cannot be read: check the path and its permissions\n`,
      })
    const given = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiI2Mjk4OTAwMTYifQ.mtlie1wqqBqYVwChfFVf'
    expect(await sgw.text(...WORDS, world.tenantId, '--jwt-file', given)).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'The given value is not the path of a readable file; perhaps it is the secret itself: give the path of a file that contains it, or - and pipe it\n',
    })
    const file = join(world.folder, 'jwt.txt')
    for (const [content, wrong] of [
      [new Uint8Array([0xff, 0xfe, 0x65, 0x00]), 'is not UTF-8: convert it, for example with iconv -f LATIN1 -t UTF-8'],
      ['x'.repeat(70_000), 'has more than 64 KB'],
    ] as const) {
      writeFileSync(file, content)
      const { code, stderr } = await sgw.text(...WORDS, world.tenantId, '--jwt-file', file)
      expect([code, stderr]).toEqual([1, `${file} ${wrong}\n`])
    }
    for (const nothing of ['', ' \n', '\uFEFF\r\n']) {
      writeFileSync(file, nothing)
      const { code, stderr } = await sgw.text(...WORDS, world.tenantId, '--jwt-file', file)
      expect([code, stderr]).toEqual([2, `${file} is empty: put the secret into it\n`])
    }
    const piped = await sgwIn(world.folder, [...WORDS, world.tenantId, '--jwt-file', '-'], {}, new Blob(['\n']))
    expect([piped.code, piped.stderr]).toEqual([2, 'Standard input is empty: put the secret into it\n'])
    writeFileSync(file, 'a.jwt.of-nobody-canary')
    const refused = await sgw.text(...WORDS, world.tenantId, '--jwt-file', file)
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toStartWith('This JWT is incomplete. Copy all of it again: ')
    expect(refused.stderr).toContain(' The JWT is not one that RingCentral accepts from this app: ')
    expect(refused.stderr).not.toContain('canary')
  })
})

test.concurrent('messages that failed because a JWT has ended are shown with the command that takes another, also without a server', async () => {
  const folder = folderInMemory()
  const number = '+15555550107'
  let command = ''
  {
    await using world = await createWorld({ folder })
    const { extensionId } = world.control.addExtension({ name: 'Bob', numbers: [number] })
    const { jwt } = world.control.addJwt({ extensionId })
    await operate(world, 'POST', '/v1/operator/extensions', { tenantId: world.tenantId, jwt })
    await world.gateway.database.gate.execute("UPDATE extensions SET status = 'revoked' WHERE jwt IS NOT NULL")
    world.gateway.directory.forget(world.tenantId)
    await world.untilStatus(await world.send({ from: number }), ['failed'])
    command = `sgw extensions connect-jwt --tenant ${world.tenantId} --jwt-file FILE`
  }
  const { stdout } = await sgwIn(folder, ['status'])
  expect(stdout).toContain(MESSAGE_FAILURES.revoked.text)
  expect(stdout).toContain(command)
  expect(stdout).not.toContain('sgw extensions invite')
  rmSync(folder, { recursive: true })
})

test.concurrent('a list without extensions names the way that is open: at home, where no link works, a JWT', async () => {
  const folder = folderInMemory()
  await (await createWorld({ connect: false, folder }))[Symbol.asyncDispose]()
  const list = async (env: Record<string, string>) => (await sgwIn(folder, ['extensions', 'list'], env)).stdout
  const home = { NODE_ENV: 'production', RC_CLIENT_ID: 'client', RC_CLIENT_SECRET: 'client-key' }
  expect(await list(home)).toBe('none: sgw extensions connect-jwt --tenant TENANT --jwt-file FILE connects one\n')
  expect(await list({})).toBe('none: sgw extensions connect --tenant TENANT prints a link that connects one\n')
  rmSync(folder, { recursive: true })
})

test.concurrent('it needs a running server', async () => {
  const folder = folderInMemory()
  writeFileSync(join(folder, 'jwt.txt'), 'a.b.c')
  const words = [...WORDS, 'tenant_0123456789abcdef', '--jwt-file', join(folder, 'jwt.txt')]
  const { code, stderr } = await sgwIn(folder, words)
  expect(code).toBe(7)
  expect(stderr).toStartWith('No server answers: ')
})

test.concurrent('the status and the list of extensions say that RC_JWT waits, and until when', async () => {
  await withServer(async (world, sgw) => {
    const nextAt = Date.parse('2026-11-28T20:01:00Z')
    const waits = {
      kind: 'waits',
      variable: 'RC_JWT',
      tenantId: null,
      codes: '429',
      fix: 'RingCentral asked the gateway to wait 60 s.',
      nextAt,
    } as const
    world.gateway.configuredJwt.state = waits
    for (const words of [['status'], ['extensions', 'list']]) {
      const { stdout } = await sgw.text(...words)
      expect(stdout).toContain('RC_JWT waits\n')
      expect(stdout.replace(/\s+/g, ' ')).toContain('presents it again at 2026-11-28T20:01:00.000Z.')
    }
  })
})

test.concurrent('a JWT of another account is told how the tenant is freed for it, and that works', async () => {
  await withServer(async (world, sgw) => {
    const [connected] = world.control.extensions()
    const elsewhere = world.control.addExtension({ name: 'Real', numbers: ['+15555550109'], accountId: '900900016' })
    const { jwt } = world.control.addJwt({ extensionId: elsewhere.extensionId })
    writeFileSync(join(world.folder, 'jwt.txt'), jwt)
    const words = [...WORDS, world.tenantId, '--jwt-file', join(world.folder, 'jwt.txt')]
    const { code, stderr } = await sgw.text(...words)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'The tenant is connected to another RingCentral account: use another tenant (sgw tenant create --name NAME), or disconnect its extensions first, for example those of the simulator: sgw extensions list, and sgw extensions disconnect EXTENSION --tenant TENANT\n',
    })
    const free = ['extensions', 'disconnect', connected?.extensionId ?? '', '--tenant', world.tenantId, '--yes']
    expect((await sgw.text(...free)).code).toBe(0)
    expect((await sgw.text(...words)).code).toBe(0)
  })
})
