import { parseArgs } from 'node:util'
import { type Loss, crashAndRestore, sentTwice, untilDrained } from '../test/support/backup-loss.ts'
import { Deployment } from '../test/support/deployment.ts'
import { S3Stub } from '../test/support/s3-stub.ts'

// What a crash with a lost volume costs: bun bench/backup.ts [--rounds 20] [--storage file|s3]

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '20' }, storage: { type: 'string', default: 'file' } },
})

// Amazon's page, not the tests' small one: pages are requests, and requests are time.
await using stub = values.storage === 's3' ? new S3Stub({ pageSize: 1000 }) : null
await using deployment = await Deployment.create(stub?.environment())
await deployment.start()
await deployment.connect('http://127.0.0.1:9/nobody')
const losses: Loss[] = []
for (let round = 1; round <= Number(values.rounds); round++) {
  losses.push(await crashAndRestore(deployment, { label: `round ${round}`, loadMs: 2000 + Math.random() * 3000 }))
  process.stdout.write(`${JSON.stringify(losses.at(-1))}\n`)
}
await untilDrained(deployment)
const sum = (name: keyof Loss): number => losses.reduce((total, loss) => total + loss[name], 0)
const middle = (name: keyof Loss): number =>
  losses.map((loss) => loss[name]).toSorted((a, b) => a - b)[losses.length >> 1] ?? 0
const worst = (name: keyof Loss): number => Math.max(...losses.map((loss) => loss[name]))
const figures = {
  rounds: losses.length,
  acknowledged: sum('acknowledged'),
  lost: sum('lost'),
  'sent twice': (await sentTwice(deployment)).length,
  'loss, median ms': middle('lossMs'),
  'loss, worst ms': worst('lossMs'),
  'until it serves again, median ms': middle('restartMs'),
  'until it serves again, worst ms': worst('restartMs'),
}
for (const [name, figure] of Object.entries(figures)) process.stdout.write(`${name.padEnd(34)} ${figure}\n`)
