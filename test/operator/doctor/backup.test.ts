import { expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeReplica, readBackupSettings } from '../../../src/operator/backup/settings.ts'
import { diagnose } from '../../../src/operator/doctor/diagnose.ts'
import type { Finding } from '../../../src/operator/doctor/finding.ts'
import { sgwIn } from '../../support/cli.ts'
import { folderInMemory } from '../../support/memory-folder.ts'
import { createWorld } from '../../support/world.ts'

const SECRET = 'hunter2'
const LITESTREAM_REPLICA_URL = `s3://key:${SECRET}@bucket/sgw?secret-access-key=${SECRET}`
const SET = {
  check: 'backup',
  ok: true,
  level: 'ok',
  detail: 'a backup at s3://…@bucket/sgw is set; check it: sgw restore --check',
} as const satisfies Finding

const backupOf = (findings: readonly Finding[]): Finding | undefined => findings.find(({ check }) => check === 'backup')

test.concurrent('without a server, doctor and status name the backup that is set, and how to check it', async () => {
  const folder = folderInMemory()
  const doctor = async (env = { LITESTREAM_REPLICA_URL }): Promise<Finding | undefined> => {
    const { stdout, stderr } = await sgwIn(folder, ['doctor', '--json'], env)
    expect(stdout + stderr).not.toContain(SECRET)
    return backupOf(JSON.parse(stdout) as Finding[])
  }
  // No database yet, then a good one, then a damaged one.
  expect(await doctor()).toEqual(SET)
  await sgwIn(folder, ['tenant', 'create', '--name', 'Acme'])
  expect(await doctor()).toEqual(SET)
  const { stdout: status } = await sgwIn(folder, ['status'], { LITESTREAM_REPLICA_URL })
  expect(status).toMatch(/^backup +at s3:\/\/…@bucket\/sgw; check it: sgw restore --check$/m)
  writeFileSync(join(folder, 'sgw.db'), 'This is no database.'.repeat(1000))
  expect(await doctor()).toEqual(SET)
  expect(await doctor({ LITESTREAM_REPLICA_URL: '' })).toMatchObject({
    detail: expect.stringContaining('off: set LITESTREAM_REPLICA_URL'),
  })
  rmSync(folder, { recursive: true })
})

test.concurrent('a server that runs without the entry point copies nothing, although a backup is set', async () => {
  await using world = await createWorld({ connect: false, env: { LITESTREAM_REPLICA_URL } })
  expect(backupOf(await diagnose(world.gateway))).toMatchObject({
    level: 'warn',
    detail: 'off: LITESTREAM_REPLICA_URL is set, but the gateway was not started with the entry point (docs/backup.md)',
  })
})

test.concurrent('messages about a restore show the address of the backup without its credentials', () => {
  for (const url of [LITESTREAM_REPLICA_URL, `sftp://user:${SECRET}?${SECRET}@bucket/sgw`]) {
    const values = { LITESTREAM_REPLICA_URL: url }
    const shown = describeReplica(readBackupSettings({ values, readFile: () => '' }, '/nowhere/sgw.db'))
    expect(shown).toBe(`${url.slice(0, url.indexOf(':'))}://…@bucket/sgw`)
  }
})
