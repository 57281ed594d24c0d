import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readStatus } from '../../src/operator/status.ts'
import { sgwIn } from '../support/cli.ts'
import { createWorld } from '../support/world.ts'

test('the status shows that a server runs', async () => {
  await using world = await createWorld({ connect: false })
  const status = await readStatus(world.gateway)
  expect(Object.keys(status)).toEqual([
    'running',
    'version',
    'schema',
    'queue',
    'extensions',
    'subscriptions',
    'jwts',
    'earliestJwtEnd',
    'backup',
    'storage',
    'ha',
    'failed',
    'waitingJwt',
    'unconnectedJwt',
    'blocked',
    'interruptedWebhooks',
  ])
  expect([status.running, status.ha]).toEqual([true, null])
})

test('without a server, the status comes from the database and says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
  await sgwIn(folder, ['tenant', 'create', '--name', 'Acme'])
  const { code, stdout } = await sgwIn(folder, ['status', '--json'])
  expect({ code, report: JSON.parse(stdout) as unknown }).toMatchObject({ code: 0, report: { running: false } })
  rmSync(folder, { recursive: true })
})
