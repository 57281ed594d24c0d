import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sgwIn } from '../support/cli.ts'
import { openOperatorSocket } from '../support/operator.ts'
import type { Finished } from '../support/program.ts'
import { startReceiver, verifySignatures } from '../support/receiver.ts'
import { createWorld } from '../support/world.ts'

const parsed = <T>(result: Finished): T => {
  expect({ code: result.code, stderr: result.stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(result.stdout) as T
}

test.concurrent('with a server, triggers are created, listed and deleted, and receive messages', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  const operator = openOperatorSocket(world)
  const run = (...args: string[]): Promise<Finished> =>
    sgwIn(world.folder, ['trigger-subscription', ...args, '--tenant', world.tenantId, '--json'])
  const created = parsed<{ triggerId: string; callbackUrl: string; secret: string; createdAt: string }>(
    await run('create', '--callback-url', receiver.url),
  )
  expect(Object.keys(created)).toEqual(['triggerId', 'callbackUrl', 'secret', 'createdAt'])
  const { secret, ...item } = created
  // The old name keeps its shape; the new one prints that of the endpoint.
  expect(parsed<unknown>(await run('list'))).toEqual([item])
  const { body } = await world.json('GET', '/v1/triggers')
  expect(body).toEqual({ triggers: [item] })
  expect(parsed<unknown>(await sgwIn(world.folder, ['trigger', 'list', '--json']))).toEqual(body)
  await world.control.injectSms({ text: 'hello' })
  const [post] = await receiver.received(1)
  verifySignatures(post!, secret)
  expect(parsed<unknown>(await run('delete', created.triggerId))).toEqual({ ok: true })
  expect(parsed<unknown>(await run('list'))).toEqual([])
  expect(await run('delete', created.triggerId)).toMatchObject({
    code: 1,
    stderr: '{"error":"Trigger not found: list the triggers with sgw trigger list"}\n',
  })
  await operator.stop()
})

test.concurrent('without a server, the commands use the database, and errors explain wrong input', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
  const made = await sgwIn(folder, ['tenant', 'create', '--name', 'Acme', '--json'])
  const { tenantId } = JSON.parse(made.stdout) as { tenantId: string }
  const run = (...args: string[]): Promise<Finished> => sgwIn(folder, ['trigger-subscription', ...args])
  expect(await run('create', '--tenant', tenantId, '--callback-url', 'http://localhost/')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has no active app'),
  })
  expect((await sgwIn(folder, ['app', 'create', '--tenant', tenantId, '--name', 'App'])).code).toBe(0)
  const created = await run('create', '--tenant', tenantId, '--callback-url', 'http://localhost:8080/hook')
  expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/trg_[0-9a-f]{16}[\s\S]*whsec_/) })
  expect((await run('list', '--tenant', tenantId)).stdout).toContain('http://localhost:8080/hook')
  const badUrl =
    'Invalid callbackUrl: must be https:// in production, max 2000 chars: write it in full, such as https://example.com/sms; in production a private address such as 127.0.0.1 must be in WEBHOOK_ALLOW_CIDRS\n'
  expect(await run('create', '--tenant', tenantId, '--callback-url', 'nonsense')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: badUrl,
  })
  const nobody = `tenant_${'0'.repeat(16)}`
  // The commands run one after the other, because each opens the database.
  for (const args of [
    ['create', '--callback-url', 'http://localhost/'],
    ['list'],
    ['delete', `trg_${'0'.repeat(16)}`],
  ]) {
    expect(await run(...args, '--tenant', nobody)).toMatchObject({
      code: 1,
      stderr: 'Tenant not found: list them with sgw tenant list\n',
    })
  }
  expect(await run('list', '--tenant', 'x')).toMatchObject({
    code: 1,
    stderr: 'Invalid tenantId format: list the tenants with sgw tenant list\n',
  })
  expect(await run('delete', '--tenant', tenantId, 'x')).toMatchObject({
    code: 1,
    stderr: 'Invalid triggerId format: list the triggers with sgw trigger list\n',
  })
  const incomplete = await Promise.all([run('create', '--tenant', tenantId), run('list')])
  expect(incomplete.map((result) => result.code)).toEqual([2, 2])
  rmSync(folder, { recursive: true })
})
