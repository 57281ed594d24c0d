import type { Browser, Page } from 'playwright-core'
import { createApp } from '../src/operator/apps.ts'
import { createTenant } from '../src/operator/tenants.ts'
import { writeManyMessages } from '../test/support/many-messages.ts'
import { type World, createWorld } from '../test/support/world.ts'
import type { Row } from './bench.ts'
import { median } from './support/alternate.ts'

const MESSAGES = 100_000
const APPS = 5
const LOADS = 5

/** Reports tasks over 50 ms, and when the list can be used: its rows are drawn and the page answers again. */
const WATCH = `
  globalThis.longTasks = []
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((entry) => entry.duration)))
    .observe({ type: 'longtask', buffered: true })
  globalThis.usableMs = new Promise((resolve) => {
    const look = () => document.querySelector('.row')
      ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
      : requestAnimationFrame(look)
    requestAnimationFrame(look)
  })`

/** The first load of Messages when signed in, with nothing in the browser's cache: five apps, two tenants, 100,000 messages. */
export async function firstLoad(browser: Browser): Promise<Row> {
  await using world = await createWorld()
  await fill(world)
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.addInitScript(WATCH)
  // Signs in.
  await page.goto(`${world.url.replace('127.0.0.1', 'localhost')}/console/#/messages`)
  await page.locator('.row').first().waitFor()
  const loads: Load[] = []
  for (let n = 0; n < LOADS; n++) loads.push(await load(page))
  await page.close()
  const of = (name: keyof Load): number => median(loads.map((figures) => figures[name]))
  return {
    page: 'Messages, first load',
    'usable after ms': Math.round(of('usableMs')),
    'tasks over 50 ms': of('tasks'),
    'longest task ms': Math.round(of('longestMs')),
    requests: of('requests'),
    KB: Math.round(of('bytes') / 100) / 10,
    holds: '≤ 400 ms on a quiet machine, no task over 50 ms, ≤ 10 requests, ≤ 60 KB',
  }
}

async function fill({ gateway, app }: World): Promise<void> {
  const other = await createTenant(gateway, { name: 'Other tenant' })
  for (let n = 1; n < APPS; n++)
    await createApp(gateway, {
      tenantId: n === 1 ? other.tenantId : app.tenantId,
      name: `App ${n}`,
      webhookUrl: null,
      role: 'app',
    })
  const since = Date.now() - MESSAGES * 1000
  await writeManyMessages(gateway.database.gate, { count: MESSAGES, since, tenantId: app.tenantId, appId: app.appId })
}

interface Load {
  usableMs: number
  bytes: number
  requests: number
  tasks: number
  longestMs: number
}

async function load(page: Page): Promise<Load> {
  const session = await page.context().newCDPSession(page)
  let [bytes, requests] = [0, 0]
  session.on('Network.requestWillBeSent', () => void requests++)
  session.on('Network.loadingFinished', ({ encodedDataLength }) => void (bytes += encodedDataLength))
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await page.reload()
  const usableMs = await page.evaluate<number>('usableMs')
  await page.waitForLoadState('networkidle')
  const tasks = await page.evaluate<number[]>('longTasks')
  await session.detach()
  return { usableMs, bytes, requests, tasks: tasks.length, longestMs: Math.max(0, ...tasks) }
}
