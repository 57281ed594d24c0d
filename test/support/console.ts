import { expect } from 'bun:test'
import type axe from 'axe-core'
import type { Page, WebError } from 'playwright-core'
import { type PageClock, lendContext } from './browser-context.ts'
import { until } from './world.ts'

export interface ConsolePage extends AsyncDisposable {
  page: Page
  /** What the browser's console and the page's scripts complained about. */
  complaints: string[]
  /** Requests since the page was opened, without the WebSocket. */
  requests: string[]
  /**
   * Resolves when the view is there with the counts of the rail, which come last, and nothing has been requested for half a second.
   * Playwright's `networkidle` shows neither: it happens once for each document.
   */
  quiet(): Promise<void>
  /** Closes it. A test fails if any page of its context threw an uncaught error, such as a rejected promise. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface ConsoleOptions {
  width?: number
  height?: number
  theme?: 'light' | 'dark'
  /** An app's key with which the tab is signed in. */
  key?: string
  /** What follows `/console/`. */
  hash?: string
  path?: string
  /** Sent with each request, but not with the WebSocket. */
  headers?: Record<string, string>
  /** What the test does with the page's clock. Default `runs`: nothing. */
  clock?: PageClock
  /** Prepares the page before anything loads. */
  prepare?: (page: Page) => Promise<void>
}

/** Opens the console of a gateway in a browser context that nothing else uses meanwhile. */
export async function openConsole(url: string, options: ConsoleOptions = {}): Promise<ConsolePage> {
  const { width = 1440, height = 900, theme = 'light', key, hash = '', path = '/console/' } = options
  const { context, giveBack } = await lendContext(options.clock ?? 'runs')
  const page = await context.newPage()
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: theme })
  if (options.headers !== undefined) await page.setExtraHTTPHeaders(options.headers)
  const complaints: string[] = []
  const requests: string[] = []
  const uncaught: string[] = []
  const onUncaught = (error: WebError): void => void uncaught.push(String(error.error()))
  context.on('weberror', onUncaught)
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  let underWay = 0
  page.on('request', (request) => {
    underWay++
    requests.push(`${request.method()} ${new URL(request.url()).pathname}`)
  })
  const end = (): void => void underWay--
  page.on('requestfinished', end).on('requestfailed', end)
  if (key !== undefined) await page.addInitScript(`sessionStorage.setItem('sgw.key', ${JSON.stringify(key)})`)
  await options.prepare?.(page)
  const address = `${onLocalhost(url)}${path}${hash}`
  await page.goto(address)
  return {
    page,
    complaints,
    requests,
    quiet: async () => {
      await until(() => requests.includes('GET /console/rail-counts.js'))
      for (let asked = -1; asked < requests.length || underWay > 0; await Bun.sleep(500)) asked = requests.length
    },
    [Symbol.asyncDispose]: async () => {
      // A route that waits for its answer would fail half a minute later, in another test.
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await giveBack([address, page.url()])
      context.off('weberror', onUncaught)
      expect(uncaught).toEqual([])
    },
  }
}

/** The requests of a load until the page asks for the counts of the rail, which is 1.5 s after it asked for its view. */
export const firstLoad = (requests: readonly string[]): readonly string[] =>
  requests.slice(0, requests.indexOf('GET /console/rail-counts.js'))

/** The situations in which each view is checked. */
export const SIZES: readonly [width: number, height: number, theme: 'light' | 'dark'][] = [
  [1440, 900, 'light'],
  [1440, 900, 'dark'],
  [1024, 768, 'light'],
  [390, 844, 'dark'],
  [360, 740, 'light'],
  // 1440 × 900 at a zoom of 200 %.
  [720, 450, 'light'],
]

/** Shows the page in a situation. A page that is loaded once for all of them costs a fifth of one for each. */
export async function show(page: Page, [width, height, theme]: Readonly<(typeof SIZES)[number]>): Promise<void> {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: theme })
  // What the page's scripts do with its size is drawn, too.
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
}

/** Opens a view of the page that is open. */
export const openView = (page: Page, view: string): Promise<void> => page.evaluate(`location.hash = '#${view}'`)

/** The name that a person types. */
const onLocalhost = (url: string): string => url.replace('127.0.0.1', 'localhost')

/** Expects axe to find nothing on the current page. */
export async function expectAccessible(page: Page): Promise<void> {
  await loadAxe(page)
  // Only the violations leave the page: the full report takes twice as long as the check.
  const violations = await page.evaluate<Violation[]>(
    `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )
  expectNoViolations(violations)
}

export type Violation = Pick<axe.Result, 'id' | 'nodes'>

export const expectNoViolations = (violations: readonly Violation[]): void =>
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' | ')}`)).toEqual([])

/** Loads axe unless the page has it. The page's policy forbids inline scripts, so the debugger evaluates it. */
export async function loadAxe(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(await axeSource)
}

/** The page parses the short file in half the time, and this process need not run it. */
const axeSource = Bun.file(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir)).text()
