import { chromium } from 'playwright-core'
import { startTestGateway } from '../src/testing/index.ts'
import { browserOptions } from '../test/support/browser.ts'
import { type Bench, type Row, shortened } from './bench.ts'
import { sendEvenly } from './console.ts'

const MESSAGES_A_MINUTE = 600
const MINUTE_MS = 60_000
const MINUTES = 60
const SAMPLES = 12

/** The heap of the open list after garbage collection, while messages arrive: for an hour with `--long`, otherwise for two minutes. */
export const consoleHeap: Bench = {
  name: 'page heap',
  async run(options) {
    const runMs = options.long ? MINUTES * MINUTE_MS : shortened(options, 2 * MINUTE_MS)
    const gateway = await startTestGateway()
    const browser = await chromium.launch(browserOptions())
    try {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
      const session = await page.context().newCDPSession(page)
      await page.goto(`${gateway.url.replace('127.0.0.1', 'localhost')}/console/#/messages`)
      const megabytes: number[] = []
      for (let sample = 0; sample < SAMPLES; sample++) {
        const sliceMs = runMs / SAMPLES
        await sendEvenly(gateway, Math.round((MESSAGES_A_MINUTE * sliceMs) / MINUTE_MS), sliceMs)
        await session.send('HeapProfiler.collectGarbage')
        megabytes.push((await session.send('Runtime.getHeapUsage')).usedSize / 2 ** 20)
      }
      return [rowOf(runMs, megabytes, await page.locator('.row').count())]
    } finally {
      await browser.close()
      await gateway.stop()
    }
  },
}

const rowOf = (runMs: number, megabytes: readonly number[], rows: number): Row => ({
  case: `${MESSAGES_A_MINUTE} messages a minute for ${Math.round(runMs / MINUTE_MS)} min`,
  'first heap MB': Number(megabytes[0]?.toFixed(1)),
  'largest heap MB': Number(Math.max(...megabytes).toFixed(1)),
  'last heap MB': Number(megabytes.at(-1)?.toFixed(1)),
  'rows drawn': rows,
  holds: '≤ 30 MB',
})
