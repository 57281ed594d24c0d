import { parseArgs } from 'node:util'
import { type Loss, crashAndRestore, sentTwice, untilDrained } from '../test/support/backup-loss.ts'
import { Deployment } from '../test/support/deployment.ts'
import { LITESTREAM } from '../test/support/litestream.ts'
import { S3Stub } from '../test/support/s3-stub.ts'
import { type S3Server, startVersitygw } from './support/versitygw.ts'

// Measures how much a crash or a stop with a lost volume loses, by kind of storage: bun bench/backup.ts [--kills 10]
// [--storage file|s3]

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '10' }, storage: { type: 'string' } },
})

const KINDS = ['file', 's3'] as const
const kinds = KINDS.filter((kind) => values.storage === undefined || values.storage === kind)
if (kinds.length === 0) throw new Error(`--storage is one of ${KINDS.join(', ')}`)
const rows = []
for (const kind of kinds) {
  for (const how of ['kill', 'stop'] as const) rows.push(await drill(kind, how, Number(values.kills)))
}
process.stdout.write(`Litestream: ${LITESTREAM}\n`)
console.table(rows)
process.exit(rows.every((row) => row.twice === 0) ? 0 : 1)

async function drill(kind: (typeof KINDS)[number], how: 'kill' | 'stop', kills: number) {
  await using server = kind === 's3' ? ((await startVersitygw()) ?? stub()) : null
  await using deployment = await Deployment.create(server?.environment)
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  const losses: Loss[] = []
  for (let kill = 1; kill <= kills; kill++) {
    losses.push(
      await crashAndRestore(deployment, { label: `${how} ${kill}`, how, loadMs: 2000 + Math.random() * 3000 }),
    )
    process.stdout.write(`${JSON.stringify({ kind, how, number: kill, ...losses.at(-1) })}\n`)
  }
  await untilDrained(deployment)
  return {
    storage: kind === 's3' ? (server?.name ?? '') : kind,
    ended: how === 'kill' ? 'kill -9' : 'SIGTERM to all',
    times: kills,
    acknowledged: sum(losses, 'acknowledged'),
    lost: sum(losses, 'lost'),
    twice: (await sentTwice(deployment)).length,
    'loss ms': `${middle(losses, 'lossMs')}, worst ${worst(losses, 'lossMs')}`,
    'serves again ms': `${middle(losses, 'restartMs')}, worst ${worst(losses, 'restartMs')}`,
  }
}

/** Used if Go is not installed. The page size is Amazon's, because the tests' small pages would add requests. */
function stub(): S3Server {
  const server = new S3Stub({ pageSize: 1000 })
  return { name: 's3 (stub)', environment: server.environment(), [Symbol.asyncDispose]: () => server.goAway() }
}

function sum(losses: readonly Loss[], name: keyof Loss): number {
  return losses.reduce((total, loss) => total + loss[name], 0)
}

function middle(losses: readonly Loss[], name: keyof Loss): number {
  return losses.map((loss) => loss[name]).toSorted((a, b) => a - b)[losses.length >> 1] ?? 0
}

function worst(losses: readonly Loss[], name: keyof Loss): number {
  return Math.max(...losses.map((loss) => loss[name]))
}
