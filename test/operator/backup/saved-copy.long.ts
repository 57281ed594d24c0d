import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Deployment, NUMBER } from '../../support/deployment.ts'
import { until } from '../../support/world.ts'

// An older copy is moved over the database of a gateway with a backup. The stop saves the database beside it.

const savedIn = (deployment: Deployment): string[] =>
  readdirSync(deployment.volume).filter((name) => name.startsWith('sgw.db.saved-'))

async function sendSome(deployment: Deployment, count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    const message = { from: NUMBER, to: '+15555550199', body: `text ${number}` }
    expect((await deployment.call('POST', '/v1/sms/send', message)).status).toBe(202)
  }
}

async function countOf(deployment: Deployment): Promise<number> {
  const answer = await deployment.call('GET', '/v1/sms/messages?limit=100')
  return ((await answer.json()) as { messages: unknown[] }).messages.length
}

function copyOf(path: string, copy: string): void {
  using database = new Database(path)
  database.run('PRAGMA busy_timeout = 5000')
  database.run('VACUUM INTO ?', [copy])
}

/** A gateway whose 10 texts are in the backup, with an older copy of its database beside it. */
async function backedUpGateway(): Promise<Deployment> {
  const deployment = await Deployment.create()
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/')
  await sendSome(deployment, 5)
  // The stop writes the log into the file.
  await deployment.stop()
  await deployment.start()
  copyOf(deployment.database, `${deployment.database}.older`)
  await sendSome(deployment, 5)
  // Until the first copy is in the storage, the command fails.
  const backedUp = async (): Promise<number> =>
    (await deployment.command<{ rows: number }>('restore', '--check').catch(() => ({ rows: 0 }))).rows
  await until(async () => (await backedUp()) === 10, 60_000)
  return deployment
}

function removeDatabase({ database }: Deployment): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${database}${suffix}`, { force: true })
}

test('sgw restore beside a saved copy renames it, and the gateway starts on the restored database', async () => {
  await using deployment = await backedUpGateway()
  renameSync(`${deployment.database}.older`, deployment.database)
  expect(await deployment.terminate()).toBe(1)
  expect(deployment.output()).toContain('was left as it is')
  const [saved = ''] = savedIn(deployment)
  const refused = await deployment.enter({})
  expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining(`saved as ${deployment.volume}/${saved}`) })

  removeDatabase(deployment)
  await deployment.start()
  expect(savedIn(deployment)).toEqual([`${saved}.old`])
  expect(deployment.output()).toContain(`${saved} is now ${deployment.volume}/${saved}.old`)
  expect(await countOf(deployment)).toBe(10)
  expect(existsSync(`${deployment.database}.restoring`)).toBe(false)
  await deployment.stop()
  await deployment.start()
  expect(await countOf(deployment)).toBe(10)
}, 120_000)

const spoil = { renamed: renameSync, copied: copyFileSync }

test.each(['renamed', 'copied'] as const)(
  'an older copy that is %s over the open database does not reach the backup, and a saved copy that is put in place does',
  async (how) => {
    await using deployment = await backedUpGateway()
    spoil[how](`${deployment.database}.older`, deployment.database)
    await until(() => /database file was (deleted|overwritten)/.test(deployment.output()), 30_000)
    expect(await deployment.terminate()).toBe(1)
    const [saved] = savedIn(deployment)
    expect(await deployment.command('restore', '--check')).toMatchObject({ ok: true, rows: 10 })

    removeDatabase(deployment)
    if (saved !== undefined) renameSync(join(deployment.volume, saved), deployment.database)
    await deployment.start()
    await sendSome(deployment, 5)
    await deployment.stop()
    deployment.loseVolume()
    await deployment.start()
    expect(await countOf(deployment)).toBe(15)
  },
  120_000,
)
