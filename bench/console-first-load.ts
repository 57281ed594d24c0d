import type { Browser, Page } from 'playwright-core'
import { createApp } from '../src/operator/apps.ts'
import { createLink } from '../src/operator/session.ts'
import { createTenant } from '../src/operator/tenants.ts'
import { writeManyMessages } from '../test/support/many-messages.ts'
import { type World, type WorldOptions, createWorld } from '../test/support/world.ts'
import type { Row } from './bench.ts'
import { median } from './support/alternate.ts'
import { watchTasks } from './support/longest-task.ts'

interface View {
  name: string
  hash: string
  shown: string
  /** Of the window, in pixels. */
  width?: number
}

/** The views, and what each has when it can be used. */
const VIEWS: readonly View[] = [
  { name: 'Messages', hash: '/messages', shown: '.row' },
  { name: 'Overview', hash: '/overview', shown: '.figure' },
  { name: 'Phone', hash: '/conversations', shown: '.said' },
  { name: 'Webhooks', hash: '/webhooks', shown: '.sentence' },
  { name: 'Setup', hash: '/numbers', shown: '.thing' },
]
/** Those of a gateway without the simulator, which an operator of many tenants sees: by a login. */
const OUTSIDE: readonly View[] = [
  { name: 'Conversations', hash: '/conversations', shown: '.row' },
  { name: 'All tenants, 50', hash: '/all', shown: '.tenant-name' },
  { name: 'All tenants, 50, on a phone', hash: '/all', shown: '.tenant-name', width: 390 },
]
const TENANTS = 50
const MESSAGES = 10_000
const APPS = 5
const LOADS = 5

/** Reports tasks over 50 ms, and when the list can be used: its rows are drawn and the page answers again. */
const watchFor = (shown: string): string => `
  globalThis.longTasks = []
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((entry) => entry.duration)))
    .observe({ type: 'longtask', buffered: true })
  globalThis.usableMs = new Promise((resolve) => {
    const look = () => document.querySelector('${shown}')
      ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
      : requestAnimationFrame(look)
    requestAnimationFrame(look)
  })`

/** The first load of each view when signed in, with nothing in the browser's cache: five apps, two tenants (50 outside of the simulator), 10,000 messages. */
export async function firstLoads(browser: Browser): Promise<Row[]> {
  return [...(await loadsOf(browser, VIEWS, {})), ...(await loadsOf(browser, OUTSIDE, { outside: true }))]
}

async function loadsOf(browser: Browser, views: readonly View[], options: WorldOptions): Promise<Row[]> {
  await using world = await createWorld(options)
  await fill(world)
  await world.send({ body: 'The newest one' })
  if (options.outside === true) for (let n = 2; n < TENANTS; n++) await world.otherTenant(`Tenant ${n}`)
  const rows: Row[] = []
  for (const view of views) rows.push(await firstLoad(browser, world, view))
  return rows
}

async function firstLoad(browser: Browser, world: World, { name, hash, shown, width = 1440 }: View): Promise<Row> {
  const page = await browser.newPage({ viewport: { width, height: 900 } })
  await page.addInitScript(watchFor(shown))
  // Signs in.
  const login = new URL((await createLink(world.gateway)).url).hash
  await page.goto(`${world.url.replace('127.0.0.1', 'localhost')}/console/${login}&${hash}`)
  await page.locator(shown).first().waitFor()
  const loads: Load[] = []
  for (let n = 0; n < LOADS; n++) loads.push(await load(page))
  await page.close()
  const of = (figure: keyof Load): number => median(loads.map((figures) => figures[figure]))
  return {
    page: `${name}, first load`,
    'usable after ms': Math.round(of('usableMs')),
    'tasks over 50 ms': of('tasks'),
    'longest task ms': Math.round(of('longestMs')),
    'of processor': Math.round(of('processorMs')),
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
  /** The same as processor time, which other programs on the machine do not change. */
  processorMs: number
}

async function load(page: Page): Promise<Load> {
  const session = await page.context().newCDPSession(page)
  let [bytes, requests] = [0, 0]
  session.on('Network.requestWillBeSent', () => void requests++)
  session.on('Network.loadingFinished', ({ encodedDataLength }) => void (bytes += encodedDataLength))
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  const longestTask = await watchTasks(session)
  await page.reload()
  const usableMs = await page.evaluate<number>('usableMs')
  await page.waitForLoadState('networkidle')
  const tasks = await page.evaluate<number[]>('longTasks')
  const processorMs = await longestTask()
  await session.detach()
  return { usableMs, bytes, requests, tasks: tasks.length, longestMs: Math.max(0, ...tasks), processorMs }
}
