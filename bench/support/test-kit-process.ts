import { rounded } from './rounded.ts'

// Uses the test kit once, and prints what each step takes as JSON: milliseconds, and those of them on a processor.
const times: Record<string, { ms: number; cpuMs: number }> = {}
async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()]
  try {
    return await work()
  } finally {
    const { user, system } = process.cpuUsage(cpuBefore)
    times[name] = { ms: rounded(performance.now() - startedAt), cpuMs: rounded((user + system) / 1000) }
  }
}

const { startTestGateway } = await timed('import', () => import('../../src/testing/index.ts'))
const first = await timed('first start', startTestGateway)
const next = await timed('next start', startTestGateway)
const sideBySide = await timed('four side by side', () => Promise.all([1, 2, 3, 4].map(() => startTestGateway())))
const send = async ({ client, numbers }: typeof first): Promise<string> =>
  (await client.sms.send({ from: numbers[0] ?? '', to: '+15555550199', body: 'Hello' })).messageId
const messageId = await timed('send to phone', async () => {
  const id = await send(next)
  await next.phone('+15555550199').waitFor('Hello')
  return id
})
await timed('phone to delivered', async () => {
  while ((await next.client.sms.timeline(messageId)).deliveryStatus !== 'delivered') await Bun.sleep(1)
})
await timed('stop', () => next.stop())
first.provider.next('hang')
await send(first)
await timed('stop with a call that hangs', () => first.stop())
await Promise.all(sideBySide.map((gateway) => gateway.stop()))
process.stdout.write(`${JSON.stringify(times)}\n`)
